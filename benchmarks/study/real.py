"""The gauntlet on public people: what each tier admits, and how often it passes people.

Real people write with heavier tails than a phantom's. Data are read from a folder beside the
project (``../shared/data``, or `USI_SHARED`); a corpus that is absent is left out with a word.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from usi.audit.attacks import ATTACKS
from usi.audit.audit import read_corpus, trial_of
from usi.audit.draws import Design, People, draw, people_of
from usi.audit.gauntlet import (
    TIERS,
    Asked,
    Trial,
    chosen_attacks,
    one_draw,
    simulator_sessions,
    table_of,
    trials_of,
)
from usi.audit.material import positions
from usi.corpora.resolve import resolve
from usi.errors import NotScorable
from usi.phantom import default_tasks, get_simulator, load_spec, realise
from usi.phantom import draw as draw_phantom
from usi.pipeline import load
from usi.records import Session

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("USI_SHARED", ROOT.parent / "shared")) / "data"
MODELS = (
    "taubench/retail_agent-gpt-4o_user-gpt-4o_115x1.json",
    "taubench/airline_agent-gpt-4o_user-gpt-4o_50x4.json",
    "taubench/retail_agent-gpt-4o-mini_user-gpt-4o-mini_115x1.json",
)
"""Transcripts of model users on other tasks: what mixtures are made with."""
MIXTURES = ("mix-5", "mix-10", "mix-20", "mix-30", "mix-50", "model")
PHANTOM = "phantom"


@dataclass(frozen=True)
class Corpus:
    """A corpus, and the designs that are drawn from it.

    Attributes
    ----------
    name, path
        Name on the page; below the data folder (empty: the phantom, which needs none).
    group
        Column of the task.
    designs
        Design -> part of the number of draws.
    attacks
        Names of the attacks; empty: all.
    attacked
        Part of the draws in which the attacks are made; people alone stand in the others, since
        the rate at which people pass needs more draws than attacks that never do.
    """

    name: str
    path: str
    group: str
    designs: tuple[tuple[str, float], ...]
    attacks: tuple[str, ...] = ()
    attacked: float = 1.0


CORPORA = (
    Corpus("STAR", "star", "task", (("165x3x3", 1.0), ("50x3x3", 1.0))),
    Corpus("MultiWOZ", "multiwoz21/val.json.zip", "domain", (("100x3x3", 0.25),)),
    Corpus("MultiDoGO", "multidogo", "domain", (("165x3x3", 0.25),)),
    Corpus(PHANTOM, "", "task", (("165x3x3", 0.5),), MIXTURES),
)
FEW = (3, 6, 10, 20)
"""Numbers of participants behind the reference."""
FEW_DESIGN = Design(50, 2, 2)
SPREAD = 7919


@lru_cache(maxsize=4)
def people_and_models(corpus: Corpus) -> tuple[People, tuple[Session, ...]]:
    """Sessions of a corpus, and the model users that are mixed in."""
    if not corpus.path:
        return _phantom()
    people = read_corpus(resolve(str(DATA / corpus.path)), group=corpus.group)
    models = [s for name in MODELS for s in load(DATA / name).sessions]
    return people, tuple(s for s in models if s.status == "ok" and positions(s))


def _phantom() -> tuple[People, tuple[Session, ...]]:
    """People of the phantom, six batches, and its polite simulator."""
    tasks = default_tasks(165, seed=7)
    plan = draw_phantom(load_spec("human"), tasks, replicates=6, seed=(7, 51))
    sessions = list(realise(plan, side="human"))
    polite = draw_phantom(get_simulator("polite"), tasks, replicates=6, seed=(7, 52))
    people = people_of(sessions, [session.task_id for session in sessions])
    return people, tuple(realise(polite, side="simulated", simulator="polite"))


@dataclass(frozen=True)
class Work:
    """One draw of one design of a corpus.

    Attributes
    ----------
    attacked
        Whether the attacks are made, beside people.
    few
        Participants behind the reference, where it is about them.
    """

    corpus: Corpus
    design: str
    number: int
    attacked: bool = True
    few: int = 0


def one(work: Work) -> list[Trial]:
    """The trials of one draw."""
    people, models = people_and_models(work.corpus)
    if work.few:
        try:
            return [_with_few(people, work)]
        except NotScorable:  # these participants did too few sessions of the same tasks
            return []
    attacks = chosen_attacks(work.corpus.attacks, models=True) if work.attacked else ()
    return one_draw(
        people, Design.parse(work.design), attacks, seed=SPREAD + work.number, models=models
    )


def _with_few(people: People, work: Work) -> Trial:
    """People against a reference from few participants, chosen among those with many sessions."""
    counts = Counter(session.participant for session in people.sessions)
    rng = random.Random(f"few-{work.few}-{work.number}")
    busy = [name for name, n in counts.most_common(2 * max(FEW)) if name]
    chosen: set[str] = set()
    for name in rng.sample(busy, len(busy)):
        chosen.add(name)
        if len(chosen) == work.few:
            break
    design, seed = Design.parse(work.design), SPREAD + work.number
    material = draw(people, design, seed=seed, reference=frozenset(chosen))
    table = table_of(material.people, human=True, name="people")
    sessions = simulator_sessions(material, material.held_out, "people")
    (trial,) = trials_of(
        table, {f"few-{work.few}": sessions}, Asked(seed, design, 1000, True, c2st="off")
    )
    return trial


def works(corpus: Corpus, draws: int) -> list[Work]:
    """All draws of a corpus."""
    found = [
        Work(corpus, design, number, number < max(2, corpus.attacked * draws * share))
        for design, share in corpus.designs
        for number in range(max(2, round(draws * share)))
    ]
    if corpus.name == "STAR":
        found += [
            Work(corpus, FEW_DESIGN.name, number, few=few)
            for few in FEW
            for number in range(max(2, 2 * draws))
        ]
    return found


def _key(work: Work) -> str:
    return f"{work.corpus.name} {work.design} {work.number} {work.few} {work.attacked}"


def _kept_one(work: Work) -> tuple[str, list[Trial]]:
    return _key(work), one(work)


def _finished(path: Path | None) -> dict[str, list[Trial]]:
    if path is None or not path.is_file():
        return {}
    rows = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    return {row["of"]: [trial_of(trial) for trial in row["trials"]] for row in rows}


def run(
    draws: int,
    *,
    processes: int = 1,
    told: Callable[[str], None] = lambda text: None,
    kept: Path | None = None,
) -> dict[str, Any]:
    """Results by corpus, as they stand in validation.json; absent corpora have a reason alone.

    Finished draws are added to the file `kept`, and taken from there when the study runs again.
    """
    done = _finished(kept)
    results: dict[str, Any] = {}
    for corpus in CORPORA:
        if corpus.path and not (DATA / corpus.path).exists():
            results[corpus.name] = {"absent": f"no {corpus.path} below the data folder"}
            told(f"people {corpus.name}: left out, {results[corpus.name]['absent']}")
            continue
        todo = works(corpus, draws)
        left = [work for work in todo if _key(work) not in done]
        with multiprocessing.get_context("spawn").Pool(processes) as pool:
            for key, trials in pool.imap_unordered(_kept_one, left, chunksize=1):
                done[key] = trials
                if kept is not None:
                    line = {"of": key, "trials": [trial.to_dict() for trial in trials]}
                    with kept.open("a", encoding="utf-8") as stream:
                        stream.write(json.dumps(line) + "\n")
        found = [done[_key(work)] for work in todo]
        results[corpus.name] = summary(todo, found, people_and_models(corpus)[0])
        told(f"people {corpus.name}: {len(todo)} draws")
    return results


def summary(
    todo: Sequence[Work], found: Sequence[Sequence[Trial]], people: People
) -> dict[str, Any]:
    """Rows by design and simulator; participants by number."""
    designs: dict[str, dict[str, list[Trial]]] = {}
    few: dict[str, list[Trial]] = {}
    for work, trials in zip(todo, found, strict=True):
        for trial in trials:
            if work.few:
                few.setdefault(str(work.few), []).append(trial)
            else:
                designs.setdefault(work.design, {}).setdefault(trial.name, []).append(trial)
    return {
        "sessions": len(people.sessions),
        "tasks": len(set(people.tasks)),
        "participants": people.participants,
        "outcomes": people.outcomes,
        "designs": {
            design: {name: row(trials) for name, trials in rows.items()}
            for design, rows in designs.items()
        },
        "few": {number: _few_row(trials) for number, trials in few.items()},
    }


def row(trials: Sequence[Trial]) -> dict[str, Any]:
    """One simulator of one design: verdicts, and for every check the share that it stopped."""
    made = [trial for trial in trials if any(trial.verdicts.values())]
    stops: dict[str, dict[str, dict[str, int]]] = {}
    for letter in TIERS:
        own: dict[str, dict[str, int]] = {}
        for trial in made:
            for check in trial.against.get(letter, ()):
                name, state = check
                own.setdefault(name, {"fail": 0, "inconclusive": 0})[state] += 1
        stops[letter] = own
    numbers: dict[str, list[float]] = {}
    for trial in made:
        for part, (value, low, high) in trial.numbers.items():
            for side, number in (("value", value), ("low", low), ("high", high)):
                if number is not None:
                    numbers.setdefault(f"{part} {side}", []).append(number)
    return {
        "draws": len(made),
        "verdicts": {
            letter: dict(Counter(trial.verdicts[letter] for trial in made)) for letter in TIERS
        },
        "stops": stops,
        "numbers": {name: float(np.mean(own)) for name, own in sorted(numbers.items())},
        "beyond": beyond(made),
        "reason": next((trial.reason for trial in trials if trial.reason), ""),
    }


MAXIMA = ("c2st", "content_tracking_max")
"""Parts that pass where their upper bound is low enough."""


def beyond(trials: Sequence[Trial]) -> dict[str, dict[str, int]]:
    """By part: draws with bounds, and those in which the deciding bound is on the wrong side.

    The true value is taken to be the mean over the draws: each has other people and other
    sessions, so it is what the part would be without the chance of a draw (a score that noise
    pulls down lies somewhat below its true value, so the count is on the high side).
    """
    values: dict[str, list[tuple[float, float, float]]] = {}
    for trial in trials:
        for part, (value, low, high) in trial.numbers.items():
            if value is not None and low is not None and high is not None:
                values.setdefault(part, []).append((value, low, high))
    found = {}
    for part, own in sorted(values.items()):
        mean = float(np.mean([value for value, _, _ in own]))
        if part in MAXIMA:
            wrong = sum(high < mean for _, _, high in own)
        elif part == "success_gap":
            wrong = sum(high < mean or low > mean for _, low, high in own)
        else:
            wrong = sum(low > mean for _, low, _ in own)
        found[part] = {"n": len(own), "wrong": wrong}
    return found


def _few_row(trials: Sequence[Trial]) -> dict[str, Any]:
    """How often people's own upper bounds lie below 100, and how often they fail tier C."""
    below: dict[str, dict[str, int]] = {}
    for trial in trials:
        for part, (_, _, high) in trial.numbers.items():
            if high is not None and part in ("index", *PARTS):
                own = below.setdefault(part, {"n": 0, "below": 0})
                own["n"] += 1
                own["below"] += int(high < 100)
    failed = sum(trial.verdicts["C"] == "FAIL" for trial in trials)
    return {"draws": len(trials), "below": below, "fail_c": failed}


PARTS = ("conversation", "information", "clarification", "reaction", "outcome")
ABOUT = {attack.name: attack.about for attack in ATTACKS} | {
    "people": "other sessions of the same people",
    "other-people": "people who are not in the reference",
}
