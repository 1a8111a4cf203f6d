"""Floor anchors: what a degenerate user would score. A score means something only between its
floor and its ceiling."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import polars as pl

from usi.errors import NotScorable
from usi.estimate import Estimate, not_assessed
from usi.extraction.spec import DIMENSIONS
from usi.options import RobustOptions
from usi.reasons import AGGREGATE, ANCHOR_WITHOUT, DOMAINS_TOO_SMALL, THREE_DOMAINS
from usi.records import Session, Turn
from usi.scoring.robust.bounds import tidy
from usi.scoring.robust.reference import Reference, reference
from usi.scoring.robust.study import Study, study
from usi.scoring.robust.thresholds import MIN_SIMULATOR_SESSIONS

CONSTANT_TEXT = "ok"
"""What the constant user says in every turn: the same short acknowledgement."""
CONSTANT = "constant_user"
ECHO = "echo_of_the_agent"
OTHER_DOMAIN = "people_of_another_domain"
FLOOR_REPLICATES = 100
"""Floors are shown without bounds; their few replicates only tell what can be assessed."""


def constant_session(turns: int) -> Session:
    """A user who says "ok" in each of so many turns."""
    return Session(
        session_id=CONSTANT,
        turns=tuple(Turn("user", CONSTANT_TEXT) for _ in range(max(1, turns))),
        simulator=CONSTANT,
    )


def echo_sessions(sessions: Iterable[Session]) -> Iterator[Session]:
    """A user who repeats the agent's last message (an opening "ok" where there is none)."""
    for session in sessions:
        turns: list[Turn] = []
        last: object = CONSTANT_TEXT
        for turn in session.turns:
            if turn.role == "user" and not turn.is_action:
                turns.append(Turn("user", last))
            elif turn.role == "assistant" and isinstance(turn.content, str) and turn.content:
                turns.append(turn)
                last = turn.content
        yield Session(
            session_id=session.session_id,
            turns=tuple(turns),
            simulator=ECHO,
            domain=session.domain,
            task_id=session.task_id,
            meta=session.meta,  # both parties speak the language that it declares
        )


def constant_frame(human: pl.DataFrame, profile: str) -> pl.DataFrame:
    """Session table of the constant user: one session beside each human one, with its keys.

    The number of turns is the people's mean (rounded), so that it tells nothing of the task.
    """
    from usi.extraction.extract import extract_table
    from usi.extraction.language import ENGLISH

    mean = float(human["user_turns"].mean() or 1)  # type: ignore[arg-type]
    session = constant_session(round(mean))
    one = extract_table([session], profile=profile, side="simulated", language=ENGLISH).frame
    keys = human.select(
        "session_id", "domain", "task", "participant", run=pl.col("batch").cast(pl.String)
    )
    own = one.drop(keys.columns)
    return pl.concat([own[[0] * keys.height], keys], how="horizontal").select(one.columns)


def behaviour_mean(result: Study) -> Estimate:
    """Mean of the dimensions of chat that are assessed; all four, or nothing."""
    missing = [name for name in DIMENSIONS if name not in result.scores]
    if missing:
        return not_assessed(ANCHOR_WITHOUT, component=missing[0], cause=result.reasons[missing[0]])
    values = [result.scores[name].raw for name in DIMENSIONS]
    return Estimate(value=tidy(sum(values) / len(values)), n=len(values))


def anchor(ref: Reference, frame: pl.DataFrame, options: RobustOptions) -> Study | None:
    """Score a degenerate user; ``None`` where nothing can be scored."""
    own = replace(options, replicates=FLOOR_REPLICATES, tasks="common", strata=None)
    try:
        return study(ref, frame, own)
    except NotScorable:
        return None


FEWEST_DOMAINS = 3
"""Fewer make one pair of domains, which is no measure of how unlike people are."""


def other_domain(ref: Reference, options: RobustOptions) -> Estimate:
    """People of one domain against people of another (unpaired), mean over pairs of domains.

    How unlike people are to people when only their tasks differ: the mean of the dimensions.
    Every domain with enough people meets the next one in sorted order, the last one the first; with
    two domains there is one pair, which tells how unlike these two are and no more.

    Returns
    -------
    Estimate
        Points; n is the number of pairs.
    """
    if ref.aggregated:
        return not_assessed(AGGREGATE)
    sizes = ref.frame["domain"].drop_nulls().value_counts()
    domains = sorted(sizes.filter(pl.col("count") >= MIN_SIMULATOR_SESSIONS)["domain"])
    if len(domains) < FEWEST_DOMAINS:
        return not_assessed(THREE_DOMAINS, least=MIN_SIMULATOR_SESSIONS)
    own = replace(
        options, replicates=FLOOR_REPLICATES, design="unpaired", strata=None, cluster="task"
    )
    values = []
    for domain, following in zip(domains, [*domains[1:], domains[0]], strict=True):
        here = ref.frame.filter(pl.col("domain") == domain)
        there = ref.frame.filter(pl.col("domain") == following)
        result = behaviour_mean(study(reference(here, ref.declared), there, own))
        if result.value is not None:
            values.append(result.value)
    if len(values) < 2:
        return not_assessed(DOMAINS_TOO_SMALL)
    return Estimate(value=tidy(sum(values) / len(values)), n=len(values))
