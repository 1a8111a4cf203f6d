"""What the final database can't show: confirmations, orders, hands, rules."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from helpers import ROOT
from lockers import call, say

from usi.simulate.domains import FolderDomain
from usi.simulate.domains.speech import agrees, asks, refuses, said

EXAMPLES = tomllib.loads((ROOT / "usi/simulate/domains/speech.toml").read_text(encoding="utf-8"))[
    "examples"
]
TAKE = call("take", locker="L1", person="ann")


def broken(
    domain: FolderDomain, task: str, *messages: dict[str, Any]
) -> list[tuple[str, int | None]]:
    found = domain.regrade(domain.task(task), list(messages))
    return [(violation.check, violation.at) for violation in found.violations]


def talk(question: str, answer: str, *after: dict[str, Any]) -> list[dict[str, Any]]:
    return [say("user", "Hello."), say("assistant", question), say("user", answer), *after]


@pytest.mark.parametrize(
    ("messages", "at"),
    [
        (talk("I give you L1. Is that right?", "Yes, please.", TAKE), None),
        (talk("May I give you a locker?", "go ahead", TAKE), None),
        (talk("I give you L1. Is that right?", "No.", TAKE), 3),
        (talk("I give you L1. Is that right?", "What does it cost?", TAKE), 3),
        (talk("Here you are.", "Yes.", TAKE), 3),
        (talk("I give you L12. Is that right?", "Yes.", TAKE), None),
        ([say("user", "Yes, I want L1."), TAKE], 1),
        ([TAKE], 0),
        (talk("I give you L1. Is that right?", "Yes.", TAKE, say("tool", "{}"),
              call("take", locker="L3", person="ann", size=2)), 5),
    ],
)  # fmt: skip
def test_each_write_needs_its_yes(
    lockers: FolderDomain, messages: list[dict[str, Any]], at: int | None
) -> None:
    found = [place for check, place in broken(lockers, "take", *messages) if check == "ask_first"]
    assert found == ([] if at is None else [at])


def test_one_yes_covers_what_was_named(lockers: FolderDomain) -> None:
    both = talk("I give you L1 and take back L2. Right?", "Yes.", TAKE, call("free", locker="L2"))
    assert "ask_first" not in dict(broken(lockers, "take", *both))


def test_a_yes_to_another_record_is_none(desk: FolderDomain) -> None:
    task = desk.task("cancel_phone")
    ask = "I am going to cancel REQ0105. Shall I go ahead?"
    found = desk.regrade(task, talk(ask, "Yes.", call("cancel_request", request_id="REQ0103")))
    assert "said yes to something else" in next(
        v.detail for v in found.violations if v.check == "confirmation"
    )


def test_a_failed_write_needs_no_yes(lockers: FolderDomain) -> None:
    failed = call("take", locker="L2", person="ann")
    assert broken(lockers, "take", say("user", "hi"), failed) == []


@pytest.mark.parametrize(
    ("rule", "messages"),
    [
        ("look_first", [call("free", locker="L1")]),
        ("look_first", [call("look", locker="L2"), call("free", locker="L1")]),
        ("not_l2", [call("free", locker="L2")]),
        ("one_key", [call("order_key", locker="L1"), call("order_key", locker="L1")]),
        ("ann_before_ben", [call("take", locker="L1", person="ben", size=3),
                            call("take", locker="L3", person="ann", size=3)]),
        ("hands", [call("take", locker="L1", person="ben")]),
        ("not_l3", [call("order_key", locker="L3")]),
        ("step_order", [call("order_key", locker="L1")]),
    ],
)  # fmt: skip
def test_rules_are_seen(lockers: FolderDomain, rule: str, messages: list[dict[str, Any]]) -> None:
    assert (rule, len(messages) - 1) in broken(lockers, "two", *messages)


@pytest.mark.parametrize(
    ("rule", "messages"),
    [
        ("look_first", [call("look", locker="L1"), call("free", locker="L1")]),
        ("not_l2", [call("free", locker="L1")]),
        ("one_key", [call("order_key", locker="L1"), call("order_key", locker="L2")]),
        ("ann_before_ben", [call("take", locker="L1", person="ben", size=3),
                            call("take", locker="L3", person="ann", size=4)]),
        ("hands", [TAKE]),
        ("not_l3", [call("look", locker="L3")]),
        ("step_order", [TAKE, call("order_key", locker="L1"), call("order_key", locker="L2")]),
        ("step_order", [call("order_key", locker="L2"), TAKE, call("order_key", locker="L1")]),
    ],
)  # fmt: skip
def test_rules_let_pass_what_is_right(
    lockers: FolderDomain, rule: str, messages: list[dict[str, Any]]
) -> None:
    assert rule not in dict(broken(lockers, "two", *messages))


def test_violations_do_not_change_the_reward(lockers: FolderDomain) -> None:
    found = lockers.regrade(lockers.task("either"), [TAKE])
    assert (found.reward, found.label) == (1, "full")
    assert [violation.check for violation in found.violations] == ["ask_first"]


def test_the_same_final_state_by_the_wrong_order_of_approvals_is_seen(desk: FolderDomain) -> None:
    """Ledger access with its approvals the wrong way round: reward 1, and the way is broken."""
    task = desk.task("ledger_access")
    verify = call("verify_caller", employee_id="E1002", staff_code="8820")
    order = [say("assistant", "Shall I request it?"), say("user", "yes"),
             call("submit_request", requester="E1002", item="ACC-LEDGER")]  # fmt: skip
    ask = [
        message
        for role in ("security", "owner", "manager")
        for message in (
            say("assistant", "Shall I ask for approval?"),
            say("user", "yes"),
            call("request_approval", request_id="REQ0112", role=role),
        )
    ]
    end = say("assistant", desk.oracle_reply(task))
    found = desk.regrade(task, [say("user", "hi"), verify, *order, *ask, end])
    assert found.reward == 1
    assert [v.check for v in found.violations] == [
        "approval_order", "approval_order", "step_order", "step_order",
    ]  # fmt: skip


def test_a_wrong_sequence_of_assignees_is_seen(desk: FolderDomain) -> None:
    task = desk.task("warranty_keys")
    verify = call("verify_caller", employee_id="E1006", staff_code="6013")
    steps = [
        message
        for group in ("vendor", "service_desk", "field_support", "vendor")
        for message in (
            say("assistant", f"Shall I hand INC0306 over to {group}?"),
            say("user", "ok"),
            call("assign_incident", incident_id="INC0306", group=group),
        )
    ]
    end = say("assistant", desk.oracle_reply(task))
    found = desk.regrade(task, [say("user", "hi"), verify, *steps, end])
    assert found.reward == 1
    assert ("handoff", "INC0306: from service_desk to vendor") in [
        (v.check, v.detail) for v in found.violations
    ]


@pytest.mark.parametrize(
    ("check", "caller", "made"),
    [
        ("verify_caller", None, call("get_account", employee_id="E1001")),
        ("own_records", "E1001", call("get_account", employee_id="E1002")),
        ("own_records", "E1001", call("get_recovery_key", asset_id="AST-4102")),
        ("own_records", "E1002", call("cancel_request", request_id="REQ0103")),
        ("privileged_account", "E1008", call("reset_mfa", employee_id="E1008", method="app")),
        ("own_approval", "E1013",
         call("decide_approval", approval_id="REQ0108-manager", decision="approved")),
        ("look_first", "E1001", call("resolve_incident", incident_id="INC0301", code="fixed")),
    ],
)  # fmt: skip
def test_rules_of_the_desk(
    desk: FolderDomain, check: str, caller: str | None, made: dict[str, Any]
) -> None:
    code = desk.database.get("employees", caller)["staff_code"] if caller else ""
    verify = call("verify_caller", employee_id=caller or "E1001", staff_code=code)
    found = desk.regrade(desk.task("unlock"), talk("Shall I?", "Yes.", verify, made))
    assert check in [violation.check for violation in found.violations]


def test_managers_act_for_their_reports(desk: FolderDomain) -> None:
    verify = call("verify_caller", employee_id="E1012", staff_code="4913")
    cancel = call("cancel_request", request_id="REQ0107")
    found = desk.regrade(desk.task("leaver"), talk("Cancel REQ0107?", "Yes.", verify, cancel))
    assert [violation.check for violation in found.violations] == []


@pytest.mark.parametrize(
    ("function", "yes", "no"),
    [
        (agrees, "agrees", "no_agreement"),
        (asks, "asks", "no_question"),
        (refuses, "refuses", "no_refusal"),
    ],
)
def test_examples_of_the_patterns(function: Any, yes: str, no: str) -> None:
    assert [text for text in EXAMPLES[yes] if not function(text)] == []
    assert [text for text in EXAMPLES[no] if function(text)] == []


def test_data_are_told_as_whole_words() -> None:
    assert said("INC0315", "It is inc0315.")
    assert not said("INC031", "It is INC0315.")
    assert said("12:50", "due at 12:50, today")
    assert not said("2100", "It costs 21,00.")
