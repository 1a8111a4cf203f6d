"""What participants do, on the file itself: once, whole, resumable, deletable."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from study_site.support import (
    Clock,
    begin_task,
    do_task,
    join,
    open_running,
    step,
    write_study,
)

from usi.errors import InputError, UsageError
from usi.study import people, status
from usi.study.agents import Agents
from usi.study.retention import forget_data
from usi.study.settings import check_filled_in, read_study
from usi.study.study import Running, open_study


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def running(tmp_path: Path, clock: Clock) -> Iterator[Running]:
    made = open_running(write_study(tmp_path / "s"), clock)
    yield made
    made.database.close()


def rows(running: Running, sql: str) -> list[tuple[object, ...]]:
    return [tuple(row) for row in running.database.read().execute(sql)]


def test_the_way_of_a_participant(running: Running) -> None:
    person = join(running, 1, practise=False)
    assert step(running, person) == "practice"
    other = join(running, 2)
    assert step(running, other) == "between"
    talk = begin_task(running, other)
    assert step(running, other) == "talk"
    assert begin_task(running, other) == talk, "a second click gives no second task"
    db = running.database
    assert not db.write(lambda c: people.end_talk(c, running, other, talk)), "nothing was said yet"
    db.write(lambda c: people.say(c, running, other, talk, "help", client="a"))
    assert db.write(lambda c: people.end_talk(c, running, other, talk))
    assert step(running, other) == "survey"
    db.write(lambda c: people.survey(c, running, other, talk, {"task_success": None}))
    assert step(running, other) == "between"
    assert do_task(running, other) is not None
    assert step(running, other) == "debrief"


def test_a_message_is_kept_once_and_only_in_turn(running: Running) -> None:
    person = join(running, 1)
    talk = begin_task(running, person)
    db = running.database

    def say(text: str, client: str) -> str:
        return db.write(lambda c: people.say(c, running, person, talk, text, client=client))

    assert say("one", "a") == "stored"
    assert say("one", "a") == "again"
    assert say("two", "b") == "not_your_turn"
    agents = Agents(running)
    agents._once(talk)
    assert say("  ", "d") == "empty"
    assert say("x" * 2001, "e") == "long"
    assert say("two", "b") == "stored"
    assert say("two", "b") == "again"
    texts = [json.loads(r[0])["content"] for r in rows(
        running, f"select body from message where talk = {talk} order by seq")]  # fmt: skip
    assert texts == ["Hi! How can I help you today?", "one", "answer 1 to one", "two"]
    agents.close()


def test_nobody_reaches_into_the_talk_of_another(running: Running) -> None:
    one, two = join(running, 1), join(running, 2)
    talk = begin_task(running, one)
    db = running.database
    said = db.write(lambda c: people.say(c, running, two, talk, "mine", client="x"))
    assert said == "over"
    db.write(lambda c: people.say(c, running, one, talk, "mine", client="x"))
    db.write(lambda c: people.end_talk(c, running, two, talk))
    assert step(running, one) == "talk"


def test_an_idle_place_is_returned_and_taken_up_again(running: Running, clock: Clock) -> None:
    person = join(running, 1)
    talk = begin_task(running, person)
    clock.now += 29 * 60
    assert running.database.write(lambda c: people.return_idle(c, running)) == []
    clock.now += 2 * 60
    assert running.database.write(lambda c: people.return_idle(c, running)) == [talk]
    assert step(running, person) == "between"
    assert running.cells(running.database.read()).taken == {}
    assert begin_task(running, person) == talk, "the place is still free"


def test_a_returned_place_that_another_filled_is_lost(tmp_path: Path, clock: Clock) -> None:
    running = open_running(
        write_study(tmp_path / "s", levels=("easy",), people_per_task=1, each=1), clock
    )
    one, two = join(running, 1), join(running, 2)
    begin_task(running, one)
    assert step(running, two) == "wait"
    clock.now += 31 * 60
    running.database.write(lambda c: people.return_idle(c, running))
    assert do_task(running, two) is not None
    assert step(running, two) == "debrief"
    assert begin_task(running, one) is None
    assert step(running, one) == "debrief", "nothing is left for them, and they are thanked"
    running.database.close()


def test_a_survey_that_is_left_loses_no_talk(running: Running, clock: Clock) -> None:
    person = join(running, 1)
    talk = begin_task(running, person)
    db = running.database
    db.write(lambda c: people.say(c, running, person, talk, "help", client="a"))
    db.write(lambda c: people.end_talk(c, running, person, talk))
    clock.now += 40 * 60
    db.write(lambda c: people.return_idle(c, running))
    assert rows(running, f"select state, survey from talk where id = {talk}") == [("done", None)]


def test_the_file_itself_refuses_a_cell_twice(running: Running) -> None:
    person, other = join(running, 1), join(running, 2)
    begin_task(running, person)
    task, batch = rows(running, "select task, batch from talk where batch is not null")[0]

    def second(c: sqlite3.Connection) -> None:
        c.execute(
            "insert into talk (participant, task, batch, state, opened, active) "
            "values (?, ?, ?, 'open', 0, 0)",
            (other, task, batch),
        )

    with pytest.raises(sqlite3.IntegrityError):
        running.database.write(second)


def test_withdrawing_leaves_no_word_in_the_file(running: Running) -> None:
    person = join(running, 1)
    talk = begin_task(running, person)
    secret = "zebra-violet-4711"
    db = running.database
    db.write(lambda c: people.say(c, running, person, talk, f"I am {secret}", client="a"))
    folder = running.place.folder
    assert any(secret.encode() in path.read_bytes() for path in folder.glob("study.sqlite*"))
    db.write(lambda c: people.withdraw(c, running, person))
    db.forget_log()
    assert not any(secret.encode() in path.read_bytes() for path in folder.glob("study.sqlite*"))
    assert step(running, person) == "withdrawn"
    assert running.cells(db.read()).taken == {}, "the place is free again"
    assert db.write(lambda c: people.say(c, running, person, talk, "again", client="b")) == "over"


def test_a_deleted_talks_number_is_not_given_to_somebody_else(running: Running) -> None:
    one, other = join(running, 1), join(running, 2)
    first = begin_task(running, one)
    assert first is not None
    running.database.write(lambda db: people.withdraw(db, running, one))
    second = begin_task(running, other)
    assert second is not None
    assert second > first, "a late answer, or an open page, of the first talk would reach it"


def test_what_the_owner_said_of_a_talk_goes_with_it(running: Running) -> None:
    person = join(running, 1)
    talk = do_task(running, person)
    assert talk is not None
    running.database.write(lambda db: status.exclude(db, running, talk, "says her address"))
    running.database.write(lambda db: people.withdraw(db, running, person))
    kept = [row["detail"] for row in running.database.read().execute("select detail from event")]
    assert not any("her address" in (detail or "") for detail in kept)


def test_a_place_whose_words_were_forgotten_is_not_taken_up_again(
    running: Running, clock: Clock
) -> None:
    person, talks = join(running, 1), []
    talks.append(begin_task(running, person))
    clock.now += 3600
    running.database.write(lambda db: people.return_idle(db, running))
    practising = join(running, 2, practise=False)
    forget_data(running, dropouts=True)
    talks.append(begin_task(running, person))
    assert talks[1] not in (None, talks[0])
    assert step(running, practising) == "practice"
    here = people.where(running.database.read(), running, practising)
    assert here is not None
    assert here.talk is not None
    assert people.messages_of(running.database.read(), here.talk.id), "it is still under way"


def test_what_the_agent_cost_is_kept_when_the_talk_is_deleted(running: Running) -> None:
    from usi.study.agents import spent_so_far

    person = join(running, 1)
    talk = begin_task(running, person)
    running.database.write(
        lambda c: c.execute("update talk set cost = 1.5, calls = 3 where id = ?", (talk,))
    )
    running.database.write(lambda c: people.withdraw(c, running, person))
    spent = spent_so_far(running.database.read())
    assert (spent.cost, spent.calls) == (1.5, 3)


def test_consent_keeps_version_and_hash(running: Running) -> None:
    import hashlib

    join(running, 1)
    expected = hashlib.sha256(b"# Consent\n\nYou may **stop** at any time.").hexdigest()
    found = rows(running, "select consent_version, consent_sha256 from participant")
    assert found == [("1", expected)]


def test_too_many_wrong_answers_end_it_politely(running: Running) -> None:
    db = running.database
    person = db.write(lambda c: people.arrive(c, running, invitation=9))
    assert person is not None
    db.write(lambda c: people.consent(c, running, person.id, agreed=True))
    for expected in ("instructions", "screened"):
        db.write(lambda c: people.understood(c, running, person.id, right=False, tries=2))
        assert step(running, person.id) == expected
    db.write(lambda c: people.understood(c, running, person.id, right=True, tries=2))
    assert step(running, person.id) == "screened"


def test_quota_and_number_of_people(tmp_path: Path) -> None:
    running = open_running(
        write_study(
            tmp_path / "s",
            more='[limits]\nparticipants = 3\n[[background]]\nid = "age"\nquestion = "Age?"\n'
            'options = ["young", "old"]\nquota = [1, 5]\n',
        )
    )
    db = running.database

    def enter(number: int, age: str) -> str:
        person = db.write(lambda c: people.arrive(c, running, invitation=number))
        assert person is not None
        db.write(lambda c: people.consent(c, running, person.id, agreed=True))
        db.write(lambda c: people.background(c, running, person.id, {"age": age}))
        return step(running, person.id)

    assert enter(1, "none such") == "background"
    assert enter(1, "young") == "instructions"
    assert enter(2, "young") == "full"
    assert enter(3, "old") == "instructions"
    assert enter(4, "old") == "instructions"
    assert enter(5, "old") == "closed", "three people took part"
    running.database.close()


def test_after_the_closing_date_nobody_begins(tmp_path: Path) -> None:
    clock = Clock(1_800_000_000.0)  # 15 January 2027
    running = open_running(
        write_study(tmp_path / "s", more="[limits]\ncloses = 2027-01-15\n"), clock
    )
    person = join(running, 1)
    assert begin_task(running, person) is not None
    clock.now += 86_400
    late = running.database.write(lambda c: people.arrive(c, running, invitation=2))
    assert late is not None
    assert step(running, late.id) == "closed"
    assert step(running, person) == "talk", "who has begun may finish the talk"
    running.database.close()


def test_an_agent_that_fails_once_is_asked_again_then_the_place_is_returned(tmp_path: Path) -> None:
    running = open_running(write_study(tmp_path / "s", agent="callable:study_site.support:silent"))
    person = join(running, 1)
    talk = begin_task(running, person)
    db = running.database
    db.write(lambda c: people.say(c, running, person, talk, "hello", client="a"))
    agents = Agents(running)
    agents._once(talk)
    assert rows(running, f"select state, termination from talk where id = {talk}") == [
        ("infrastructure", "plugin_error")
    ]
    assert running.cells(db.read()).taken == {}
    assert step(running, person) == "between"
    agents.close()
    running.database.close()


def test_an_unanswered_message_is_answered_after_a_restart(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "s")
    running = open_running(folder)
    person = join(running, 1)
    talk = begin_task(running, person)
    db = running.database
    db.write(lambda c: people.say(c, running, person, talk, "are you there", client="a"))
    running.database.close()
    again = open_running(folder)
    agents = Agents(again)
    assert agents.resume() == 1
    for _ in range(100):
        if not people.agents_turn(people.messages_of(again.database.read(), talk)):
            break
        time.sleep(0.05)
    last = people.messages_of(again.database.read(), talk)[-1]
    assert last.body == {"role": "assistant", "content": "answer 1 to are you there"}
    agents.close()
    again.database.close()


def test_an_excluded_talk_frees_its_cell_and_keeps_its_reason(running: Running) -> None:
    person = join(running, 1)
    talk = do_task(running, person)
    db = running.database
    assert not db.write(lambda c: status.exclude(c, running, talk, "  ")), "a reason is needed"
    assert db.write(lambda c: status.exclude(c, running, talk, "one-word answers"))
    assert running.cells(db.read()).taken == {}
    assert db.write(lambda c: status.include(c, running, talk))
    assert len(running.cells(db.read()).taken) == 1


def test_forgetting_is_for_good_and_refuses_unknown_codes(running: Running) -> None:
    person = join(running, 1)
    do_task(running, person)
    code = rows(running, "select code from participant")[0][0]
    with pytest.raises(UsageError, match="no participant"):
        forget_data(running, participants=["p_nobody"])
    assert len(rows(running, "select seq from message")) > 0
    assert forget_data(running, participants=[str(code)]).people == 1
    assert rows(running, "select id from talk") == []
    assert rows(running, "select talk from message") == []


def test_identities_are_apart_and_go_first(running: Running) -> None:
    db = running.database
    person = db.write(
        lambda c: people.arrive(c, running, key="k", parameters={"PID": "5f00aa", "S": "1"})
    )
    assert person is not None
    back = db.write(
        lambda c: people.arrive(c, running, key="k", parameters={"PID": "5f00aa", "S": "1"})
    )
    assert back is not None
    assert back.id == person.id
    stranger = db.write(
        lambda c: people.arrive(c, running, key="k", parameters={"PID": "5f00aa", "S": "2"})
    )
    assert stranger is None, "knowing the id alone opens nothing"
    assert forget_data(running, identities=True).identities == 1
    assert rows(running, "select * from identity") == []


def test_an_oracle_is_refused_for_people(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "s", agent="oracle")
    with pytest.raises(InputError, match="oracle"):
        open_study(read_study(folder))


def test_an_agent_whose_file_is_missing_is_named_with_its_field(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "s", agent="agents/none.toml")
    with pytest.raises(InputError, match=r"agents/none\.toml, and there is no such file") as caught:
        open_study(read_study(folder))
    assert "study.toml, field agent" in str(caught.value)


@pytest.mark.parametrize(
    ("top", "greeting"),
    [('language = "de"', "Hallo! Wie kann ich Ihnen heute helfen?"),
     ('language = "de"\ngreeting = "Na?"', "Na?"),
     ("", "Hi! How can I help you today?")],
)  # fmt: skip
def test_the_first_message_is_in_the_language_of_the_study(
    tmp_path: Path, top: str, greeting: str
) -> None:
    running = open_running(write_study(tmp_path / "s", top=top))
    talk = begin_task(running, join(running, 1))
    assert talk is not None
    first = people.messages_of(running.database.read(), talk)[0]
    assert first.body["content"] == greeting
    running.database.close()


def test_another_agent_is_refused_once_people_took_part(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "s")
    running = open_running(folder)
    person = join(running, 1)
    begin_task(running, person)
    running.database.close()
    write_study(folder, agent="callable:study_site.support:silent")
    with pytest.raises(UsageError, match="must not be mixed"):
        open_study(read_study(folder))


def test_a_consent_text_with_gaps_is_refused(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "s")
    (folder / "consent.md").write_text("We are [TO FILL IN].", encoding="utf-8")
    with pytest.raises(InputError, match="1 places"):
        check_filled_in(read_study(folder).consent, folder / "consent.md")


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ('titel = "x"\n', "title"),
        ('domain = "service_desk"\n', "not both"),
        ('language = "zz"\n', "no texts"),
        ('[texts]\nsendd = "x"\n', "send"),
        ("[design]\npeople_per_task = 0\n", "people_per_task"),
        ('[recruiting]\nparameters = ["A"]\nid = "B"\n', "one of the parameters"),
        ('[comprehension]\nquestion = "?"\noptions = ["a", "b"]\nanswer = 3\n', "2 options"),
    ],
)
def test_wrong_settings_are_told_with_file_and_field(
    tmp_path: Path, change: str, word: str
) -> None:
    folder = write_study(tmp_path / "s")
    path = folder / "study.toml"
    text = path.read_text(encoding="utf-8")
    if change.startswith("[design]"):
        text = text.split("[design]")[0]
    path.write_text(
        change + text if not change.startswith("[") else text + change, encoding="utf-8"
    )
    with pytest.raises(InputError, match=word) as error:
        open_study(read_study(folder))
    assert "study.toml" in str(error.value)
