"""Evidence: turns that count for each feature, and sessions to read in full.

Sampled by seed from the session tables, whatever their order; texts come from a second pass
over the transcripts, which reads only what was drawn.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

import polars as pl

from usi.diagnose.attach import compared_specs, sample_of, scored_sessions
from usi.diagnose.evidence_marks import MarkedTurn, mark_sessions
from usi.diagnose.evidence_read import Key, read_people, read_simulators
from usi.diagnose.evidence_records import Evidence, EvidenceTurn, Transcript
from usi.diagnose.evidence_text import Shown, evidence_turn, transcript
from usi.diagnose.unlike import Picked, pick
from usi.features.profile import Profile
from usi.features.registry import get_profile
from usi.features.spec import FeatureSpec
from usi.features.table import SessionTable
from usi.load import LoadOptions
from usi.records import Session, Side
from usi.score.scorecard import Scorecard
from usi.score.watched import CONTENT

PER_FEATURE, UNLIKE, TYPICAL = 2, 3, 1
_WHOLE_SESSION = ("cv", "geometric", "duration", "value")
_SPREAD = ("words", "words_first", "words_first_two")
"""Columns in which every turn counts: sessions over the whole range are shown, not any."""


@dataclass(frozen=True)
class Sources:
    """Where the texts are.

    Attributes
    ----------
    human, simulators
        Paths of the transcripts.
    human_options, simulator_options
        How they were loaded.
    human_cleaning
        Whose cleaning the reference had.
    """

    human: Sequence[str | Path]
    simulators: Sequence[str | Path]
    human_options: LoadOptions
    simulator_options: LoadOptions
    human_cleaning: Side = "human"


@dataclass
class Wish:
    """Which sessions of one side are wanted, and for what."""

    turns: dict[str, list[Key]] = field(default_factory=dict)
    sessions: list[tuple[str, Key, Picked]] = field(default_factory=list)

    def keys(self) -> set[Key]:
        """All of them."""
        every = {key for keys in self.turns.values() for key in keys}
        return every | {key for _, key, _ in self.sessions}


def with_turns(spec: FeatureSpec) -> bool:
    """Whether single turns count for a feature (else it is one of the whole session)."""
    if spec.kind in _WHOLE_SESSION:
        return False
    whole = ("user_turns", "shortest", "trigrams_repeated", "echo", "repeat")
    return spec.numerator not in whole


def build_evidence(
    card: Scorecard,
    human: SessionTable,
    simulators: Mapping[str, SessionTable],
    sources: Sources,
    *,
    seed: int = 7,
) -> Evidence:
    """Draw turns and sessions, read their texts, mark them.

    Parameters
    ----------
    card
        Finished scorecard of the same tables.
    human, simulators
        Session tables with keys.
    sources
        Where the transcripts are; session tables and stdin can't be read again and give nothing.
    seed
        Of every draw.
    """
    profile = get_profile(human.profile)
    people = scored_sessions(human.frame)
    wishes: dict[str, Wish] = {"": Wish(turns=_draw_turns(people, profile, "", seed))}
    for part in card.simulators:
        table = simulators.get(part.name)
        if table is None:
            continue
        own = scored_sessions(table.frame)
        wish = Wish(turns=_draw_turns(own, profile, part.name, seed))
        specs = compared_specs(human.profile, part.design)
        unlike, typical, usual = pick(
            sample_of(people, specs), sample_of(own, specs),
            unlike=UNLIKE, typical=TYPICAL, seed=seed,
        )  # fmt: skip
        places = _places(own, specs, part.name)
        wish.sessions = [
            (kind, places[picked.key], picked)
            for kind, found in (("unlike", unlike), ("typical", typical))
            for picked in found
        ]
        wishes[part.name] = wish
        if not wishes[""].sessions and usual:
            known = _places(people, specs, "")
            wishes[""].sessions = [("typical", known[p.key], p) for p in usual]
    read = read_people(sources.human, sources.human_options, wishes[""].keys())
    wanted = set().union(*(w.keys() for name, w in wishes.items() if name))
    read |= read_simulators(sources.simulators, sources.simulator_options, wanted)
    turns: dict[str, dict[str, tuple[EvidenceTurn, ...]]] = {}
    sessions: dict[str, tuple[Transcript, ...]] = {}
    for name, wish in wishes.items():
        source: Side = "simulated" if name else sources.human_cleaning
        marked = _marked(read, wish, profile, source)
        for feature, found in _turns(wish, marked, profile).items():
            turns.setdefault(feature, {})[name] = found
        texts = [
            transcript(kind, marked[key], picked, profile)
            for kind, key, picked in wish.sessions
            if key in marked
        ]
        if texts:
            sessions[name] = tuple(texts)
    return Evidence(
        usi_version=card.usi_version,
        signature=card.signature,
        tasks_sha256=card.tasks_sha256,
        seed=seed,
        turns={s.name: turns[s.name] for s in profile.specs if s.name in turns},
        sessions=sessions,
    )


def _rows(frame: pl.DataFrame, label: str) -> list[Key]:
    names = frame.select(
        "session_id", pl.col("trial").fill_null(""),
        pl.col("batch_id").cast(pl.String).fill_null(""),
        pl.col(CONTENT).fill_null("") if CONTENT in frame.columns else pl.lit("").alias(CONTENT),
    )  # fmt: skip
    return [(label, *row) for row in names.iter_rows()]


def _places(frame: pl.DataFrame, specs: Sequence[FeatureSpec], label: str) -> dict[str, Key]:
    keys = sample_of(frame, tuple(specs)).keys.tolist()
    return dict(zip(keys, _rows(frame, label), strict=True))


def _lot(key: Key, feature: str, seed: int) -> bytes:
    """A number drawn by lot for a session, which depends on nothing but its own names."""
    text = "\x00".join((*key[:4], feature, str(seed)))
    return blake2b(text.encode("utf-8", "backslashreplace"), digest_size=8).digest()


def _draw_turns(
    frame: pl.DataFrame, profile: Profile, label: str, seed: int
) -> dict[str, list[Key]]:
    """Sessions to take a turn from, by feature."""
    keys = _rows(frame, label)
    drawn = {}
    for spec in profile.specs:
        if not with_turns(spec):
            continue
        counts = frame[spec.numerator].fill_null(0).to_list()
        if spec.numerator in _SPREAD:
            order = sorted((c, k) for c, k in zip(counts, keys, strict=True))
            at = [math.floor(len(order) * q) for q in (0.25, 0.75)] if order else []
            drawn[spec.name] = [order[k][1] for k in dict.fromkeys(at)]
            continue
        able = {k for c, k in zip(counts, keys, strict=True) if c}
        lots = sorted(able, key=lambda k: (_lot(k, spec.name, seed), k))
        drawn[spec.name] = lots[:PER_FEATURE]
    return drawn


def _marked(
    read: Mapping[Key, Session], wish: Wish, profile: Profile, source: Side
) -> dict[Key, Shown]:
    keys = [key for key in sorted(wish.keys()) if key in read]
    sessions = [read[key] for key in keys]
    turns = mark_sessions(sessions, profile, source) if sessions else []
    return {
        key: Shown(session, own) for key, session, own in zip(keys, sessions, turns, strict=True)
    }


def _turns(
    wish: Wish, marked: Mapping[Key, Shown], profile: Profile
) -> dict[str, tuple[EvidenceTurn, ...]]:
    found: dict[str, tuple[EvidenceTurn, ...]] = {}
    for spec in profile.specs:
        own = []
        for key in wish.turns.get(spec.name, []):
            shown = marked.get(key)
            turn = None if shown is None else _turn(shown.turns, spec)
            if shown is not None and turn is not None:
                own.append(evidence_turn(shown, turn, spec.numerator, profile))
        if own:
            found[spec.name] = tuple(own)
    return found


def _turn(turns: Sequence[MarkedTurn], spec: FeatureSpec) -> MarkedTurn | None:
    """The turn to show: the first one for openings, a middling one for lengths, else the one
    that counts most."""
    if not turns:
        return None
    if spec.numerator in ("words_first", "words_first_two"):
        return turns[0]
    if spec.numerator == "words":
        order = sorted(turns, key=lambda t: (t.counts.get("words", 0), t.message))
        return order[len(order) // 2]
    able = [turn for turn in turns if turn.counts.get(spec.numerator)]
    return max(able, key=lambda t: (t.counts[spec.numerator], -t.message)) if able else None


__all__ = ["Sources", "build_evidence", "with_turns"]
