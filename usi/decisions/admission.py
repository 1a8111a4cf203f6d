"""Admission records: what a gate said about a simulator, on which numbers, and until when.

``usi submit`` writes one (``NAME.admission.json``); it is on the scorecard whose hash it names and
holds the whole decision. A verdict file beside a scorecard is one, too, where it is on this very
scorecard, by its digest. A verdict on another scorecard says nothing here; one on this scorecard
that does not follow from it is refused (`usi.decisions.derive`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from usi._version import __version__
from usi.corpora.candidate import fingerprint
from usi.corpora.manifest import MANIFEST, read_manifest
from usi.corpora.resolve import corpus_folder
from usi.decisions.checks import parse_date
from usi.decisions.derive import check_verdict, is_on
from usi.decisions.expiry import end_of
from usi.decisions.sums_check import Mismatch
from usi.decisions.verdict import Verdict
from usi.errors import InputError, UsageError, UsiError
from usi.extraction.profile import get_feature_profile
from usi.provenance.digest import DIGEST, require_intact
from usi.provenance.record import read_record, sha256_file
from usi.reading import held_to, read_json
from usi.reasons import (
    ENDS_WITH_CHANGE,
    ENDS_WITH_CORPUS_CONTENT,
    ENDS_WITH_PROFILE,
    ENDS_WITH_VERSION,
    NO_SCORING_DAY,
    Reason,
)
from usi.scoring.agents import KEY as AGENT
from usi.scoring.identity import changed
from usi.scoring.scorecard import Scorecard, SimulatorCard

_MARK = b'"criteria_fingerprint"'
_SUBMISSION = b'"scorecard_sha256"'


@dataclass(frozen=True)
class Admission:
    """One verdict on one simulator.

    Attributes
    ----------
    file
        Name of the verdict's file.
    verdict, criteria, fingerprint
        What was said, by which criteria.
    decided
        Day that the gate was told (``--as-of``), where it was told one.
    scored
        Day of scoring, from the verdict, else from the run record beside the scorecard.
    expires
        First day on which the record counts no more; ``None`` where nothing sets an end.
    reason
        What sets the end, or why nothing does.
    expired
        On the day that was asked for, or at once; ``None`` where no day was given or no end is set.
    unverified
        What could not be checked; empty where the verdict follows from the scorecard and its
        numbers from the per-task sums.
    submission
        File of the record that ``usi submit`` wrote, which binds the verdict to an identity.
    """

    file: str
    verdict: str
    criteria: str
    fingerprint: str
    decided: str | None
    scored: str | None
    expires: str | None
    reason: Reason
    expired: bool | None
    unverified: tuple[Reason, ...] = ()
    submission: str | None = None


@dataclass(frozen=True)
class Submission:
    """A record of ``usi submit``.

    Attributes
    ----------
    name, identity
        The simulator that it is on.
    scorecard_sha256
        Hash of the scorecard.
    decision
        The verdict.
    inputs, reference
        Files that were scored (role, name, hash), and the human corpus.
    data
        Everything in it.
    """

    name: str
    identity: Mapping[str, str]
    scorecard_sha256: str
    decision: Verdict
    inputs: tuple[Mapping[str, Any], ...]
    reference: Mapping[str, Any]
    data: Mapping[str, Any]


@dataclass(frozen=True)
class Found:
    """What lies beside scorecards: verdicts, and records of ``usi submit``, by file name."""

    verdicts: tuple[tuple[str, Verdict], ...] = ()
    submissions: tuple[tuple[str, Submission], ...] = ()


def find_records(paths: Sequence[str | Path]) -> Found:
    """Verdicts and records of folders, and beside scorecards that are named, sorted by name.

    Raises
    ------
    InputError
        For a record that can't be read, or was changed after it was written.
    """
    folders = {path if path.is_dir() else path.parent for path in map(Path, paths)}
    verdicts: list[tuple[str, Verdict]] = []
    submissions: list[tuple[str, Submission]] = []
    for file in sorted(file for folder in folders for file in folder.glob("*.json")):
        if not file.is_file() or _MARK not in (data := file.read_bytes()):
            continue
        if _SUBMISSION in data:
            submissions.append((file.name, read_submission(file)))
        else:
            verdicts.append((file.name, Verdict.read(file)))
    return Found(tuple(verdicts), tuple(submissions))


def read_submission(path: str | Path) -> Submission:
    """Read a record of ``usi submit``; what it says twice must agree.

    Raises
    ------
    InputError
        Where it is none, was changed after it was written, or contradicts itself.
    """
    data = read_json(path)
    texts = ("name", "verdict", "criteria_fingerprint", "scorecard_sha256", "identity_sha256")
    if (
        not isinstance(data, dict)
        or not all(isinstance(data.get(key), str) for key in texts)
        or not isinstance(data.get("decision"), dict)
        or not isinstance(data.get("identity"), dict)
    ):
        raise InputError(
            "this is not an admission record of this usi; make one with: usi submit NAME",
            file=str(path),
        )
    require_intact(
        data, "the admission record was changed after it was written", again="submit again",
        file=str(path),
    )  # fmt: skip
    decision = data["decision"]
    verdict = held_to(Verdict, decision, str(path), strict=True)
    twice = {
        "decision.digest": (decision.get(DIGEST), verdict.to_dict()[DIGEST]),
        "verdict": (data["verdict"], verdict.verdict),
        "admitted": (data.get("admitted"), verdict.verdict == "PASS"),
        "criteria": (data.get("criteria"), verdict.criteria_label),
        "criteria_fingerprint": (data["criteria_fingerprint"], verdict.criteria_fingerprint),
        "expires": (data.get("expires"), verdict.expires),
        "identity_sha256": (data["identity_sha256"], fingerprint(data["identity"])),
        "name": ([data["name"]], [part.name for part in verdict.simulators]),
    }
    for field, (said, is_so) in twice.items():
        if said != is_so:
            raise Mismatch(
                f"the record says {said!r:.60} here, and {is_so!r:.60} follows from the rest",
                file=str(path),
                field=field,
            )
    return Submission(
        name=data["name"],
        identity=data["identity"],
        scorecard_sha256=data["scorecard_sha256"],
        decision=verdict,
        inputs=tuple(data.get("inputs", ())),
        reference=data.get("reference", {}),
        data=data,
    )


def admissions(
    scorecard: str | Path,
    card: Scorecard,
    simulator: SimulatorCard,
    found: Found,
    *,
    as_of: str | None = None,
    doubts: Sequence[Reason] = (),
) -> tuple[Admission, ...]:
    """Records on one simulator of a scorecard.

    Parameters
    ----------
    scorecard
        Its file; the run record beside it says when it was scored.
    found
        From `find_records`.
    as_of
        Day for which `expired` is told, ``YYYY-MM-DD``; no clock is asked.
    doubts
        What could not be checked about the scorecard.

    Raises
    ------
    InputError
        Where the run record can't be read, or a record on this scorecard does not follow from it.
    UsageError
        Where `as_of` is no date, or lies before the scoring.
    """
    today = None if as_of is None else parse_date(as_of, "--as-of")
    verdicts = [(n, v) for n, v in found.verdicts if is_on(v, card)]
    submissions = _submitted(scorecard, card, simulator, found)
    verdicts = [(n, v) for n, v in verdicts if simulator.name in [p.name for p in v.simulators]]
    if not verdicts and not submissions:
        return ()
    run = read_record(scorecard)
    record = None if run is None else run.finished[:10]
    inputs = [] if run is None else [(part.role, part.sha256) for part in run.inputs]
    inputs += [(str(f.get("role")), str(f.get("sha256"))) for _, s in submissions for f in s.inputs]
    named = [str(s.reference.get("corpus")) for _, s in submissions]
    named += [] if run is None else [str(run.options.get("human"))]
    now = ended(card, simulator) + (corpus_changed(named[0], inputs) if named else ())
    bound = {_key(s.decision): name for name, s in submissions}
    own = [(name, verdict, bound.get(_key(verdict))) for name, verdict in verdicts]
    known = {_key(verdict) for _, verdict in verdicts}
    own += [(name, s.decision, name) for name, s in submissions if _key(s.decision) not in known]
    made = []
    for name, verdict, submission in own:
        unsure = check_verdict(verdict, card, scorecard, file=name)
        if None not in (verdict.scored, record) and verdict.scored != record:
            raise Mismatch(
                f"the verdict says that the scorecard was made on {verdict.scored}, its run record "
                f"says {record}",
                file=name,
                field="scored",
            )
        scored = verdict.scored or record
        if scored is not None and as_of is not None and as_of < scored:
            raise UsageError(f"--as-of {as_of} lies before the day of scoring ({scored})")
        age = verdict.criteria.get("max_age_days")
        expires, reason = end_of(age, scored, card.human.expires)
        changes = now + _other_version(verdict)
        expired = None if expires is None or today is None else today.isoformat() >= expires
        made.append(
            Admission(
                file=name,
                verdict=next(p.verdict for p in verdict.simulators if p.name == simulator.name),
                criteria=verdict.criteria_label,
                fingerprint=verdict.criteria_fingerprint,
                decided=verdict.as_of,
                scored=scored,
                expires=expires,
                reason=changes[0] if changes else reason,
                expired=True if changes else expired,
                unverified=_once((*doubts, *verdict.unverified, *unsure, *_endless(expires))),
                submission=submission,
            )
        )
    return tuple(made)


def corpus_home(name: str) -> Path | None:
    """Folder of a corpus with a manifest by the name that was scored; ``None`` without one."""
    for told in (name, name.partition("@")[0]):
        try:
            home = corpus_folder(told)
        except UsiError:
            continue
        return home if (home / MANIFEST).is_file() else None
    return None


def corpus_changed(name: str, inputs: Iterable[tuple[str, str]]) -> tuple[Reason, ...]:
    """Whether the corpus of the workspace is another one now, by the hashes of its manifest.

    Parameters
    ----------
    name
        Of the human reference, as it was named at the scoring.
    inputs
        Role and SHA-256 of the files that were scored.
    """
    home = corpus_home(name)
    if home is None:
        return ()
    known = set(read_manifest(home / MANIFEST).sha256.values())
    if known and any(role == "human" and digest not in known for role, digest in inputs):
        return (ENDS_WITH_CORPUS_CONTENT(corpus=name),)
    return ()


def ended(card: Scorecard, simulator: SimulatorCard) -> tuple[Reason, ...]:
    """What ends a verdict at once: another simulator by its file in the workspace, or profile."""
    found = []
    keys = changed(card).get(simulator.name)
    if keys is not None:
        found.append(ENDS_WITH_CHANGE(keys=keys))
    name, _, version = card.profile.partition("@")
    if version and (now := get_feature_profile(name).tag) != card.profile:
        found.append(ENDS_WITH_PROFILE(then=card.profile, now=now))
    return tuple(found)


def _other_version(verdict: Verdict) -> tuple[Reason, ...]:
    """That usi's major version is another than the one that decided."""
    then, now = (text.partition(".")[0] for text in (verdict.usi_version, __version__))
    if then == now:
        return ()
    return (ENDS_WITH_VERSION(then=verdict.usi_version, now=__version__),)


def _endless(expires: str | None) -> tuple[Reason, ...]:
    return () if expires is not None else (NO_SCORING_DAY(),)


def _once(reasons: Sequence[Reason]) -> tuple[Reason, ...]:
    return tuple({reason.text: reason for reason in reasons}.values())


def _submitted(
    scorecard: str | Path, card: Scorecard, simulator: SimulatorCard, found: Found
) -> list[tuple[str, Submission]]:
    """Records on this file that are of this simulator; one that is of another is refused."""
    if not found.submissions:
        return []
    digest = sha256_file(scorecard)
    own = []
    for name, record in found.submissions:
        if record.scorecard_sha256 != digest:
            continue
        held_against(record, card, name)
        if record.name == simulator.name:
            own.append((name, record))
    return own


def held_against(record: Submission, card: Scorecard, file: str) -> None:
    """Refuse a record whose simulator or decision is not that of the scorecard that it names.

    Raises
    ------
    Mismatch
        With the field that differs.
    """
    part = next((one for one in card.simulators if one.name == record.name), None)
    if part is None:
        raise Mismatch(
            f"the scorecard that it names holds no simulator {record.name!r:.60}",
            file=file,
            field="name",
        )
    then = {key: value for key, value in part.identity.items() if key != AGENT}
    if dict(record.identity) != then:
        raise Mismatch(
            "the scorecard that it names is of another simulator", file=file, field="identity"
        )
    if not is_on(record.decision, card):
        raise Mismatch(
            "the decision is on another scorecard than the one that the record names",
            file=file,
            field="decision.scorecard_digest",
        )


def _key(verdict: Verdict) -> str:
    """What two files of one decision share."""
    return str(verdict.to_dict()[DIGEST])
