"""`usi score` with the profile robust through the command line, on a small population."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command import refused, usi

from usi.phantom import PhantomFiles, build_phantom

ROBUST = ("--profile", "robust", "--replicates", "200")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> PhantomFiles:
    place = tmp_path_factory.mktemp("population")
    return build_phantom(place, tasks=60, runs=2, simulators=["copy", "polite"], seed=3)


def transcripts(files: PhantomFiles) -> Path:
    found = sorted(p for p in Path(files.human).rglob("*") if p.suffix in (".json", ".jsonl"))
    return next(p for p in found if p.suffix == ".jsonl")


@pytest.fixture(scope="module")
def card(files: PhantomFiles) -> dict[str, Any]:
    done = usi("score", files.simulators["polite"], "--human", files.human, *ROBUST)
    assert done.code == 0, done.err
    return done.json()


def test_the_default_profile_is_robust(files: PhantomFiles, card: dict[str, Any]) -> None:
    done = usi("score", files.simulators["polite"], "--human", files.human, "--replicates", "200")
    assert done.json() == card
    assert card["profile"] == "robust@2"


def test_diagnostics_floors_and_signature_are_on_the_card(card: dict[str, Any]) -> None:
    side = card["simulators"][0]
    assert [test["classifier"] for test in side["two_sample"]] == ["logistic", "trees"]
    assert {test["mode"] for test in side["two_sample"]} == {"fast"}
    assert "|c2st:fast|" in side["signature"]
    floors = side["floors"]
    assert set(floors) == {"constant_user", "echo_of_the_agent", "people_of_another_domain"}
    means = [side["components"][n]["value"] for n in
             ("conversation", "information", "clarification", "reaction")]  # fmt: skip
    for name in ("constant_user", "echo_of_the_agent"):
        assert 0 <= floors[name]["value"] < sum(means) / 4
    assert side["spread_index"]["status"] == "ok"
    assert set(side["gaming"]) >= {"politeness: overdispersion", "politeness: context lift"}


def test_the_two_sample_test_can_be_left_out(files: PhantomFiles) -> None:
    done = usi("score", files.simulators["polite"], "--human", files.human, *ROBUST,
               "--c2st", "off")  # fmt: skip
    side = done.json()["simulators"][0]
    assert side["two_sample"] == []
    assert "c2st" not in side["signature"]
    assert side["spread_index"]["status"] == "ok"


def test_every_field_of_its_signature_is_explained(card: dict[str, Any]) -> None:
    signature = card["simulators"][0]["signature"]
    done = usi("explain", signature)
    assert done.code == 0, done.err
    for field in signature.split("|")[1:]:
        assert field.partition(":")[0] in done.out


def test_choices_stand_in_settings_and_the_command_line_goes_over_them(
    files: PhantomFiles, tmp_path: Path
) -> None:
    (tmp_path / "usi.toml").write_text(
        '[score]\nprofile = "robust"\nreplicates = 200\ndesign = "unpaired"\nc2st = "off"\n'
        'by = ["domain"]\nsuccess_at = 1.0\n'
    )
    base = ("score", files.simulators["polite"], "--human", files.human)
    side = usi(*base, cwd=tmp_path).json()["simulators"][0]
    assert side["design"] == "unpaired"
    assert {part["by"] for part in side["subgroups"]} == {"domain"}
    over = usi(*base, "--design", "paired", cwd=tmp_path).json()["simulators"][0]
    assert over["design"] == "paired"


def test_an_unpaired_card_says_that_tasks_differ(files: PhantomFiles, tmp_path: Path) -> None:
    done = usi("score", files.simulators["copy"], "--human", files.human, *ROBUST,
               "--design", "unpaired", "--print", "table", "-o", tmp_path / "card.md")  # fmt: skip
    for text in (done.out, (tmp_path / "card.md").read_text()):
        assert "tasks differ" in text
        assert "people of another domain" not in text  # two domains are one pair


def test_choices_of_robust_are_refused_with_another_profile(files: PhantomFiles) -> None:
    base = ("score", files.simulators["copy"], "--human", files.human, "--profile", "tau-usi")
    refused(usi(*base, "--design", "paired"), "--design", "robust")
    refused(usi(*base, "--sim-runs", "1"), "--sim-runs", "robust")
    refused(usi(*base, "--by", "domain"), "--by", "robust")


def test_wrong_choices_are_refused_and_name_what_there_is(files: PhantomFiles) -> None:
    base = ("score", files.simulators["copy"], "--human", files.human, *ROBUST)
    refused(usi(*base, "--sim-runs", "9"), "--sim-runs", "9")
    refused(usi(*base, "--human-where", "domain=moon"), "--human-where", "airline", "retail")
    refused(usi(*base, "--sim-where", "domain"), "COLUMN=VALUE")
    refused(usi(*base, "--by", "domian"), "domain")
    refused(usi(*base, "--difficulty", "self"), "frozen")
    refused(usi(*base[:-1], "5"), "--replicates")


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def write(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_under_95_percent_of_the_tasks_is_refused_and_names_the_ways_out(
    files: PhantomFiles, tmp_path: Path
) -> None:
    records = rows(files.simulators["copy"])
    tasks = sorted({record["task_id"] for record in records})
    keep = set(tasks[: int(0.8 * len(tasks))])
    part = write(tmp_path / "copy.jsonl", [r for r in records if r["task_id"] in keep])
    base = ("score", part, "--human", files.human, *ROBUST)
    refused(usi(*base), "95 %", "--tasks common", "--design unpaired")
    common = usi(*base, "--tasks", "common")
    assert common.code == 0, common.err
    side = common.json()["simulators"][0]
    assert side["n"]["tasks"] == len(keep)
    assert side["coverage"]["value"] == pytest.approx(len(keep) / len(tasks))


def test_under_fifty_simulator_sessions_there_is_no_index(
    files: PhantomFiles, tmp_path: Path
) -> None:
    part = write(tmp_path / "copy.jsonl", rows(files.simulators["copy"])[:49])
    done = usi("score", part, "--human", files.human, *ROBUST, "--tasks", "common")
    assert done.code == 0, done.err
    index = done.json()["simulators"][0]["index"]
    assert (index["value"], index["status"]) == (None, "not_assessed")
    assert index["reason"]["parameters"]["least"] == 50
    assert "NaN" not in done.out


def test_further_fields_of_sessions_serve_as_subgroup_stratum_and_cluster(
    files: PhantomFiles, tmp_path: Path
) -> None:
    def tagged(path: Path) -> Path:
        records = rows(path)
        for record in records:
            record["priority"] = "high" if int(record["task_id"].split("_")[-1]) % 2 else "low"
        return write(tmp_path / f"{path.parent.name}-{path.name}", records)

    people, sim = tagged(transcripts(files)), tagged(files.simulators["copy"])
    done = usi("score", sim, "--human", people, *ROBUST, "--by", "priority",
               "--strata", "priority", "-o", tmp_path / "copy.sessions.parquet")  # fmt: skip
    assert done.code == 0, done.err
    side = done.json()["simulators"][0]
    assert [part["value"] for part in side["subgroups"]] == ["high", "low"]
    assert {part["label"] for part in side["outcome_bins"]} == {"high", "low"}
    again = usi("score", sim, "--human", people, *ROBUST, "--human-where", "priority=low",
                "--sim-where", "priority=low")  # fmt: skip
    low = next(part for part in side["subgroups"] if part["value"] == "low")
    assert again.json()["simulators"][0]["n"]["tasks"] == low["tasks"]


def test_halves_split_every_task(files: PhantomFiles) -> None:
    people = transcripts(files)
    done = usi("score", people, "--human", people, *ROBUST, "--human-runs", "odd",
               "--sim-runs", "even")  # fmt: skip
    assert done.code == 0, done.err
    card = done.json()
    total = card["inputs"][0]["sessions"]
    sizes = [card["human"]["n"]["sessions"], card["simulators"][0]["n"]["sessions"]]
    assert sum(sizes) == total
    assert abs(sizes[0] - sizes[1]) <= card["human"]["n"]["tasks"]


def test_a_gate_with_subgroups_scores_them_by_itself(files: PhantomFiles, tmp_path: Path) -> None:
    (tmp_path / "gate.toml").write_text(
        '[minimum]\nindex = 20\n[[subgroup]]\nby = "domain"\nminimum = 20\n'
        "[require]\ncomponents = []\n"
    )
    done = usi("score", files.simulators["copy"], "--human", files.human, *ROBUST,
               "--gate", tmp_path / "gate.toml", "-o", tmp_path / "card.json",
               "-o", tmp_path / "card.verdict.json", "-o", tmp_path / "card.junit.xml")  # fmt: skip
    verdict = json.loads((tmp_path / "card.verdict.json").read_text())
    assert done.code == verdict["exit_code"]
    checks = {check["id"] for check in verdict["simulators"][0]["checks"]}
    assert any(name.startswith("subgroup.domain") for name in checks), checks
    # the same command may run again over its own files
    again = usi("score", files.simulators["copy"], "--human", files.human, *ROBUST,
                "--gate", tmp_path / "gate.toml", "-o", tmp_path / "card.json",
                "-o", tmp_path / "card.verdict.json")  # fmt: skip
    assert again.code == done.code, again.err
