"""An audit of a corpus: draws of the gauntlet, and the least size at which people pass."""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from usi.audit.attacks import Attack
from usi.audit.draws import MIN_TASKS, Design, People, largest, people_of, units
from usi.audit.gauntlet import (
    OTHER_PEOPLE,
    TIERS,
    Admission,
    Asked,
    Trial,
    admissions,
    chosen_attacks,
    held_out_people,
    one_draw,
)
from usi.corpora.resolve import Corpus
from usi.errors import InputError, UsageError
from usi.options import LoadOptions
from usi.records import Session

Told = Callable[[str], None]
POWER = 0.8
"""Share of draws in which people must pass for a size to be called large enough."""
GROUPS = ("task", "domain")
LADDER = (30, 50, 75, 100, 165, 250)
REPLICATES = 1000


@dataclass(frozen=True)
class Size:
    """How often real people pass at one size: draws, and passes by tier."""

    design: str
    draws: int
    passes: dict[str, int]


@dataclass(frozen=True)
class Audit:
    """What `usi audit` found.

    Attributes
    ----------
    corpus
        Name of the corpus.
    tier
        The tier that is asked about; the table has all three.
    design, draws, seed
        Size of the studies, how many, and the first seed.
    sessions, tasks, participants
        Usable sessions of the corpus, their tasks, their known participants (0: unknown).
    left_out
        Reason -> sessions that can't stand in a study.
    rows
        Held-out people and every attack.
    sizes
        How often people pass, by number of tasks.
    least
        The smallest of these sizes at which people pass the tier in at least 80 % of the draws.
    notes
        What a reader must know.
    synthetic
        Whether the corpus is.
    of_log
        Whether it is an event log: cases in place of sessions, and no sizes.
    """

    corpus: str
    tier: str
    design: str
    draws: int
    seed: int
    sessions: int
    tasks: int
    participants: int
    left_out: dict[str, int]
    rows: tuple[Admission, ...]
    sizes: tuple[Size, ...]
    least: str | None
    notes: tuple[str, ...]
    synthetic: bool = False
    of_log: bool = False

    @property
    def admitted(self) -> tuple[Admission, ...]:
        """Attacks that the tier admitted in any draw, the most frequent first."""
        found = [row for row in self.rows if row.attack and row.admitted(self.tier)]
        return tuple(sorted(found, key=lambda row: -row.admitted(self.tier)))


def read_corpus(
    reference: Corpus, options: LoadOptions | None = None, *, group: str = "task"
) -> People:
    """The people of a corpus: sessions with texts, and the task of each by the key rules.

    Parameters
    ----------
    reference, options
        Which files, and how they are read.
    group
        Column of the session table whose sessions are taken for talks about the same task:
        ``"task"``, or ``"domain"`` where every session has a task of its own.

    Raises
    ------
    InputError
        Where the corpus holds no session.
    UsageError
        For another column.
    """
    if group not in GROUPS:
        raise UsageError(f"--group is one of {', '.join(GROUPS)}, not {group!r}")
    from usi.scoring.people import read_people_of, sessions_of

    table = read_people_of(reference, options=options).tables[""].frame
    tasks = dict(zip(table["seq"].to_list(), table[group].to_list(), strict=True))
    sessions = [(i, s) for i, s in enumerate(sessions_of(reference, options)) if i in tasks]
    if not sessions:
        raise InputError(f"{reference.name}: there is no session in it")
    return people_of([s for _, s in sessions], [tasks[i] for i, _ in sessions])


def run_audit(
    people: People,
    *,
    corpus: str,
    tier: str = "B",
    design: Design | None = None,
    draws: int = 5,
    seed: int = 1,
    attacks: Iterable[str] = (),
    models: Sequence[Session] = (),
    replicates: int = REPLICATES,
    kept: Path | None = None,
    told: Told = lambda text: None,
    synthetic: bool = False,
) -> Audit:
    """Run the gauntlet on the people of a corpus.

    Parameters
    ----------
    people
        From `read_corpus`.
    corpus
        Its name.
    tier
        ``"A"``, ``"B"`` or ``"C"``.
    design
        Size of the studies; default: the largest that the corpus allows, 165x3x3 at most.
    draws, seed
        Number of draws, and the seed of the first.
    attacks
        Names of attacks; none: all that can be made.
    models
        Sessions of model users, for mixtures and matched turns.
    replicates
        Bootstrap replicates of every score.
    kept
        File that finished draws are added to and taken from.
    told
        Called with a line of progress.
    synthetic
        Whether the people are generated.

    Raises
    ------
    UsageError, NotScorable
        For an unknown tier or attack; for a corpus that is too small.
    """
    if tier not in TIERS:
        raise UsageError(f"a tier is one of {', '.join(TIERS)}, not {tier!r}")
    chosen = chosen_attacks(attacks, models=bool(models))
    size = design or largest(people)
    done = _Kept(kept, people, size, chosen, models, replicates)
    trials: list[Trial] = []
    for number in range(seed, seed + draws):
        found = done.get("gauntlet", number)
        if found is None:
            told(f"draw {number - seed + 1} of {draws}: {len(chosen) + 1} simulators ...")
            found = one_draw(
                people, size, chosen, seed=number, models=models, replicates=replicates
            )
            done.put("gauntlet", number, found)
        trials += found
    rows = tuple(admissions(trials))
    sizes = _sizes(people, size, range(seed, seed + draws), replicates, done, told)
    main = Size(size.name, draws, {t: rows[0].admitted(t) for t in TIERS})
    every = tuple(sorted((*sizes, main), key=lambda s: Design.parse(s.design).tasks))
    enough = [s for s in every if s.draws and s.passes[tier] >= POWER * s.draws]
    return Audit(
        corpus=corpus,
        tier=tier,
        design=size.name,
        draws=draws,
        seed=seed,
        sessions=len(people.sessions),
        tasks=len(set(people.tasks)),
        participants=people.participants,
        left_out=dict(people.left_out),
        rows=rows,
        sizes=every,
        least=enough[0].design if enough else None,
        notes=_notes(people, size, trials, bool(models)),
        synthetic=synthetic,
    )


def _sizes(
    people: People,
    size: Design,
    numbers: range,
    replicates: int,
    done: _Kept,
    told: Told,
) -> list[Size]:
    """How often held-out people pass at other numbers of tasks."""
    most = len(units(people, size.batches, size.runs, random.Random(0)))
    found = []
    for tasks in LADDER:
        if tasks == size.tasks or not MIN_TASKS <= tasks <= most:
            continue
        design = Design(tasks, size.batches, size.runs)
        trials: list[Trial] = []
        for number in numbers:
            own = done.get(design.name, number)
            if own is None:
                told(f"people at {design.name}, draw {number - numbers[0] + 1} ...")
                asked = Asked(number, design, replicates, people.outcomes)
                own = held_out_people(people, asked)
                done.put(design.name, number, own)
            trials += own
        passes = {t: sum(trial.verdicts[t] == "PASS" for trial in trials) for t in TIERS}
        found.append(Size(design.name, len(trials), passes))
    return found


def _notes(people: People, size: Design, trials: Sequence[Trial], models: bool) -> tuple[str, ...]:
    notes = []
    if people.left_out:
        left = ", ".join(f"{n} with {reason}" for reason, n in sorted(people.left_out.items()))
        notes.append(f"Sessions that can't stand in a study: {left}.")
    if not people.participants:
        notes.append(
            "Participants are unknown: the same person may stand on both sides, which makes it "
            "easier for people to pass."
        )
    elif not any(trial.name == OTHER_PEOPLE for trial in trials):
        notes.append(
            "The participants can't be divided into two halves with tasks enough in common: "
            "people are other sessions, maybe of the same persons."
        )
    if (size.batches, size.runs) != (3, 3):
        notes.append(
            f"The corpus has sessions for {size.batches} batches and {size.runs} runs a task only."
        )
    if not people.outcomes:
        notes.append(
            "No session tells how it ended: tiers are asked without their outcome, success gap "
            "and index."
        )
    if not models:
        notes.append("Mixtures with a model user and matched turns need --mix FILE.")
    notes.append(
        "Outcomes of an attack are those of the people whose places it takes, and surveys are "
        "left off on both sides: behaviour alone decides."
    )
    return tuple(notes)


class _Kept:
    """Finished draws in a file of JSON lines; settings that differ give other keys."""

    def __init__(
        self,
        path: Path | None,
        people: People,
        size: Design,
        attacks: Sequence[Attack],
        models: Sequence[Session],
        replicates: int,
    ) -> None:
        import msgspec

        from usi._version import __version__

        self.path = path
        digest = hashlib.sha256()
        for session in (*people.sessions, *models):
            digest.update(msgspec.json.encode(session))
        names = ",".join(attack.name for attack in attacks)
        digest.update(f"{__version__} {size.name} {names} {replicates}".encode())
        self.digest = digest.hexdigest()[:16]
        self.found: dict[tuple[str, int], list[Trial]] = {}
        if path is not None and path.is_file():
            self._read(path)

    def _read(self, path: Path) -> None:
        *lines, rest = path.read_text(encoding="utf-8").split("\n")
        if rest:  # a line that was cut off in writing
            path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line)
                if row["of"] == self.digest:
                    key = (str(row["kind"]), int(row["draw"]))
                    self.found[key] = [trial_of(value) for value in row["trials"]]
            except (ValueError, KeyError, TypeError) as error:
                raise InputError(f"{path}, line {number}: no finished draw of usi audit") from error

    def get(self, kind: str, draw: int) -> list[Trial] | None:
        return self.found.get((kind, draw))

    def put(self, kind: str, draw: int, trials: Sequence[Trial]) -> None:
        if self.path is None:
            return
        row = {
            "of": self.digest,
            "kind": kind,
            "draw": draw,
            "trials": [trial.to_dict() for trial in trials],
        }
        with self.path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(row, ensure_ascii=False) + "\n")


def trial_of(value: dict[str, Any]) -> Trial:
    """A trial from its JSON form."""
    return Trial(
        draw=value["draw"],
        design=value["design"],
        name=value["name"],
        verdicts=value["verdicts"],
        against={
            letter: tuple((name, state) for name, state in found)
            for letter, found in value["against"].items()
        },
        numbers={part: (own[0], own[1], own[2]) for part, own in value["numbers"].items()},
        reason=value["reason"],
    )


def blockers(row: Admission, letter: str, most: int = 3) -> str:
    """The checks that stopped a simulator most often, such as ``content (5), style (3)``."""
    counts: Counter[str] = Counter()
    for stopped in row.against.get(letter, ()):
        counts[stopped.check] += stopped.draws
    return ", ".join(f"{name} ({n})" for name, n in counts.most_common(most))
