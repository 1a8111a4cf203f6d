"""Admission records: which verdict is on which numbers, and when it ends. All values by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from decisions.cards import auc, card, human, index, simulator

from usi.cli.gate import gate_fresh
from usi.corpora.candidate import fingerprint
from usi.decisions.admission import Found, admissions, find_records
from usi.decisions.criteria import tier
from usi.decisions.decide import gate_scorecard
from usi.decisions.sums_check import Mismatch
from usi.decisions.tables import doubts_of, find_scorecards
from usi.decisions.verdict import Verdict
from usi.errors import InputError, UsageError
from usi.provenance.digest import with_digest
from usi.provenance.record import FileHash, RunRecord, record_path, sha256_file
from usi.reasons import ENDS_BY_DEFAULT, NO_SCORING_DAY
from usi.scoring.scorecard import Scorecard


def kept(folder: Path, scorecard: Scorecard, *, day: str | None = "2026-01-01") -> Path:
    """A scorecard file, with a run record of that day beside it."""
    path = folder / "card.json"
    path.write_text(scorecard.to_json(), encoding="utf-8")
    if day is not None:
        record = RunRecord(
            usi_version="0", command=("usi",), started=f"{day}T00:00:00Z",
            finished=f"{day}T00:00:01Z", python="3", implementation="c", system="s", machine="m",
            packages={},
            outputs=(FileHash(role="output", name="card.json", sha256=sha256_file(path)),),
        )  # fmt: skip
        record_path(path).write_text(record.to_json(), encoding="utf-8")
    return path


def judged(scorecard: Scorecard, **change: Any) -> Verdict:
    criteria = tier("B").model_copy(update=change)
    return gate_scorecard(scorecard, criteria, "2026-01-02", scored_on="2026-01-01")


def records(path: Path, scorecard: Scorecard, verdict: Verdict, as_of: str | None = None) -> Any:
    part = scorecard.simulators[0]
    return admissions(path, scorecard, part, Found((("v.json", verdict),)), as_of=as_of)


def test_a_record_ends_on_the_day_after_the_last_that_the_criteria_allow(tmp_path: Path) -> None:
    one = card()
    path = kept(tmp_path, one)
    verdict = judged(one, max_age_days=90)
    (found,) = records(path, one, verdict)
    # 90 days after 1 January 2026 is 1 April; on it the age of 90 days still passes
    assert (found.scored, found.expires) == ("2026-01-01", "2026-04-02")
    assert found.verdict == "PASS"
    assert found.expired is None
    assert records(path, one, verdict, "2026-04-01")[0].expired is False
    assert records(path, one, verdict, "2026-04-02")[0].expired is True
    on_the_last_day = gate_scorecard(
        one, tier("B").model_copy(update={"max_age_days": 90}), "2026-04-01", scored_on="2026-01-01"
    )
    assert on_the_last_day.verdict == "PASS"


def test_the_corpus_may_end_it_earlier(tmp_path: Path) -> None:
    one = card(human=human(expires="2026-02-01"))
    path = kept(tmp_path, one)
    (found,) = records(path, one, judged(one, max_age_days=90), "2026-02-01")
    assert (found.expires, str(found.reason)) == ("2026-02-01", "the human corpus expires")
    assert found.expired


def test_without_an_age_it_ends_after_90_days(tmp_path: Path) -> None:
    one = card()
    path = kept(tmp_path, one)
    (found,) = records(path, one, judged(one), "2026-06-01")
    assert (found.expires, found.expired) == ("2026-04-02", True)
    assert found.reason.is_a(ENDS_BY_DEFAULT)


def test_without_a_day_of_scoring_it_is_unverified(tmp_path: Path) -> None:
    one = card()
    bare = kept(tmp_path, one, day=None)
    verdict = gate_scorecard(one, tier("B"))
    (found,) = records(bare, one, verdict, "2036-06-01")
    assert (found.scored, found.expires) == (None, None)
    assert "no run record" in str(found.reason)
    assert NO_SCORING_DAY() in found.unverified
    # a verdict that says when its card was scored needs no run record
    (found,) = records(bare, one, judged(one), "2036-06-01")
    assert (found.expires, found.expired) == ("2026-04-02", True)


def test_a_verdict_and_a_run_record_of_other_days_contradict_each_other(tmp_path: Path) -> None:
    one = card()
    path = kept(tmp_path, one, day="2026-01-03")
    with pytest.raises(Mismatch, match=r"2026-01-01.*2026-01-03"):
        records(path, one, judged(one))


def test_a_verdict_on_other_numbers_is_no_record(tmp_path: Path) -> None:
    one = card()
    path = kept(tmp_path, one)
    assert len(records(path, one, judged(one))) == 1
    others = (
        card(simulator(index=index(94.0))),
        card(simulator(name="another")),
        card(signature="USI-R|profile:robust@2|corpus:else"),
        card(simulator(signature="USI-R|other")),
    )
    for other in others:
        assert records(path, one, judged(other)) == ()


def test_a_day_that_is_none_is_refused(tmp_path: Path) -> None:
    one = card()
    with pytest.raises(UsageError, match="--as-of"):
        records(kept(tmp_path, one), one, judged(one), "tomorrow")


def test_files_are_told_apart(tmp_path: Path) -> None:
    one = card()
    path = kept(tmp_path, one)
    (tmp_path / "card.verdict.json").write_text(judged(one).to_json(), encoding="utf-8")
    assert find_scorecards([tmp_path]) == [path]
    assert [name for name, _ in find_records([tmp_path]).verdicts] == ["card.verdict.json"]
    assert [name for name, _ in find_records([path]).verdicts] == ["card.verdict.json"]
    (tmp_path / "broken.json").write_text('{"criteria_fingerprint": "x"}', encoding="utf-8")
    with pytest.raises(InputError, match="not a verdict"):
        find_records([tmp_path])


def submission(path: Path, verdict: Verdict, **change: Any) -> None:
    """A record of usi submit, reduced to what is read of it."""
    data = {
        "name": "sim", "verdict": verdict.verdict, "admitted": verdict.verdict == "PASS",
        "criteria": verdict.criteria_label, "criteria_fingerprint": verdict.criteria_fingerprint,
        "expires": verdict.expires, "identity": {}, "identity_sha256": fingerprint({}),
        "scorecard_sha256": sha256_file(path), "decision": verdict.to_dict(), **change,
    }  # fmt: skip
    (path.parent / "mine.admission.json").write_text(json.dumps(with_digest(data)))


def test_a_submission_counts_for_the_scorecard_that_it_names(tmp_path: Path) -> None:
    one = card(human=human(expires="2026-02-01"))
    path = kept(tmp_path, one)
    submission(path, judged(one))
    part = one.simulators[0]
    (found,) = admissions(path, one, part, find_records([tmp_path]), as_of="2026-03-01")
    assert (found.file, found.submission) == ("mine.admission.json", "mine.admission.json")
    assert (found.expires, found.expired, found.decided) == ("2026-02-01", True, "2026-01-02")
    submission(path, judged(one), scorecard_sha256="0" * 64)
    assert admissions(path, one, part, find_records([tmp_path])) == ()
    submission(path, judged(one), name=None)
    with pytest.raises(InputError, match="not an admission record"):
        find_records([tmp_path])


def test_a_submission_and_its_verdict_are_one_record(tmp_path: Path) -> None:
    one = card()
    path = kept(tmp_path, one)
    verdict = judged(one, max_age_days=90)
    (tmp_path / "mine.verdict.json").write_text(verdict.to_json(), encoding="utf-8")
    submission(path, verdict)
    part = one.simulators[0]
    (found,) = admissions(path, one, part, find_records([tmp_path]))
    assert (found.file, found.submission) == ("mine.verdict.json", "mine.admission.json")
    assert found.expires == "2026-04-02"
    submission(path, judged(one))
    assert len(admissions(path, one, part, find_records([tmp_path]))) == 2


def test_doubts_are_told() -> None:
    assert doubts_of(simulator()) == []
    assert doubts_of(simulator(two_sample=(auc(0.55, 0.48, 0.62),))) == []
    (told,) = doubts_of(simulator(two_sample=(auc(0.91, 0.85, 0.95), auc(0.6, 0.51, 0.7))))
    assert "AUC 0.91" in told
    assert "variety" in doubts_of(simulator(collapsed=True))[0]
    assert "gaming" in doubts_of(simulator(gaming_suspected=True))[0]


def test_a_verdict_at_once_names_the_age_that_it_need_not_ask(tmp_path: Path) -> None:
    """As `usi score --gate` and `usi submit` decide: the leaderboard reads the end from it."""
    criteria = tier("C").model_copy(update={"max_age_days": 90})
    scorecard = card(simulator())
    verdict = gate_fresh(scorecard, criteria, "2026-01-01")
    assert "max_age_days" not in [check.id for check in verdict.simulators[0].checks]
    later = gate_scorecard(scorecard, criteria, "2026-01-02", scored_on="2026-01-01")
    assert verdict.criteria == later.criteria
    assert verdict.criteria_fingerprint == later.criteria_fingerprint
    assert verdict.criteria_label == later.criteria_label
    path = kept(tmp_path, scorecard)
    assert records(path, scorecard, verdict)[0].expires == "2026-04-02"
