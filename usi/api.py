"""The interface in Python: one function for each verb, and results that show themselves.

`usi` exposes what stands here; nothing is imported before it is used. Options have the names of
the flags (`usi.options`, which holds their meaning once): the keywords between ``# options`` and
``# end of options`` and their entries in the docstrings are made by ``docs/build_api.py``.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeGuard, TypeVar

from pydantic import PrivateAttr

from usi.decisions.plan import Plan
from usi.decisions.tables import Comparison, Rankings
from usi.decisions.verdict import Verdict
from usi.errors import UsageError
from usi.extraction.table import SessionTable
from usi.loading.stream import SessionStream, is_paths
from usi.options import (
    LoadOptions,
    ScoreOptions,
    declared,
    default_of,
)
from usi.pipeline import Loaded, score_with_tables, stream_of
from usi.pipeline import features as _features
from usi.pipeline import load as _load
from usi.records import Side
from usi.scoring.assembly import Streams
from usi.scoring.scorecard import Scorecard

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from usi.decisions.criteria import Criteria
    from usi.report import tables


class Table(Protocol):
    """A frame of pandas or polars, or a table of pyarrow."""

    @property
    def columns(self) -> Any:
        """Its columns, or their names."""


Rows = Iterable[Mapping[str, Any]]
"""Rows of dictionaries: a list, a Hugging Face ``Dataset``, a generator."""
Transcripts = str | Path | Sequence[str | Path] | Loaded | Rows | Table
"""Paths, what `load` gave, a frame of pandas or polars, a table of pyarrow, or `Rows`."""


class ScoredCard(Scorecard):  # noqa: PLW1641  what compares by value has no hash
    """A scorecard that was just made, with the per-task sums that stand beside its file."""

    _sums: bytes = PrivateAttr(default=b"")

    @classmethod
    def of(cls, card: Scorecard, sums: bytes) -> ScoredCard:
        """The card with its sums."""
        made = cls.model_construct(**{name: getattr(card, name) for name in Scorecard.model_fields})
        made._sums = sums
        return made

    def __eq__(self, other: object) -> bool:
        """Compare what stands on the cards."""
        return isinstance(other, Scorecard) and self.model_dump() == other.model_dump()

    def _repr_html_(self) -> str:
        """The table of the report, for notebooks."""
        from dataclasses import replace

        from usi.report import card_text
        from usi.report.tables import to_html

        notes = tuple(card_text.headline(self))
        return to_html(replace(card_text.scores_table(self), notes=notes), bare=True)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the index of every simulator with its bounds.

        Parameters
        ----------
        ax
            Axes of matplotlib to draw on; new ones where ``None``.

        Returns
        -------
        matplotlib.axes.Axes
        """
        from usi.report.figures import files, model

        axes = ax or _axes(1.7 + 0.36 * (1 + len(self.simulators)))
        files.draw(axes, model.overview(self, {}))
        return axes

    def write(self, path: str | Path) -> list[Path]:
        """Write the card and, beside it, the sums that compare and rank read; return the paths."""
        from usi.decisions.simulator_terms import sidecar_path

        target = Path(path)
        if target.suffix != ".json":
            raise UsageError(f"{target}: a scorecard is written as .json")
        target.write_text(self.to_json(), encoding="utf-8")
        sums = sidecar_path(target)
        sums.write_bytes(self._sums)
        return [target, sums]


class GateVerdict(Verdict):
    """A verdict that shows itself in notebooks."""

    def _repr_html_(self) -> str:
        """One row a check, the reasons above it."""
        from usi.report.tables import Table, to_html

        rows = tuple(
            (part.name, check.id, check.state, check.message)
            for part in self.simulators
            for check in part.checks
        )
        title = f"{self.verdict} ({self.criteria_label})"
        head = ("simulator", "check", "state", "found")
        return to_html(
            Table(title, head, rows, tuple(reason.text for reason in self.reasons)), bare=True
        )

    def to_pandas(self) -> pd.DataFrame:
        """One row a check; ``found`` is the code of what was found, ``message`` says it."""
        import pandas as pd

        return pd.DataFrame(
            [
                {
                    "simulator": part.name,
                    "verdict": part.verdict,
                    **check.model_dump(exclude={"notes"}),
                    "found": check.found.code,
                    "message": check.message,
                }
                for part in self.simulators
                for check in part.checks
            ]
        )


class _Tabled:
    """What results made of tables have in common."""

    def _tables(self) -> tuple[tables.Table, ...]:
        raise NotImplementedError

    def _repr_html_(self) -> str:
        """The tables of the report, for notebooks."""
        from usi.report.tables import to_html

        return "".join(to_html(table, bare=True) for table in self._tables())


@dataclass(frozen=True, repr=False)
class ComparedCards(_Tabled, Comparison):
    """A comparison that shows itself."""

    def __repr__(self) -> str:
        """Say in one line what was compared."""
        words = [row.word for row in self.differences if row.part in ("index", "component")]
        counts = ", ".join(f"{words.count(w)} {w}" for w in dict.fromkeys(words))
        return f"<Comparison of {self.a!r} with {self.b!r}: {counts or 'nothing to compare'}>"

    def _tables(self) -> tuple[tables.Table, ...]:
        from usi.report.comparison_tables import comparison_tables

        return comparison_tables(self)

    def to_pandas(self) -> pd.DataFrame:
        """One row a score: both values, their difference and its bounds."""
        import pandas as pd

        return pd.DataFrame(
            [
                {"name": r.name, "part": r.part, "a": r.a, "b": r.b,
                 "difference": r.difference.value, "low": r.difference.low,
                 "high": r.difference.high, "word": r.word}
                for r in self.differences
            ]
        )  # fmt: skip


@dataclass(frozen=True, repr=False)
class RankedCards(_Tabled, Rankings):
    """Rankings that show themselves."""

    def __repr__(self) -> str:
        """Say in a line a table who is ranked."""
        lines = [
            "; ".join(f"{r.name} {r.best}-{r.worst}" for r in board.ranking.rows[:6])
            + (" ..." if len(board.ranking.rows) > 6 else "")
            for board in self.tables[:4]
        ]
        return f"<Rankings: {' | '.join(lines) or 'nothing is ranked'}>"

    def _tables(self) -> tuple[tables.Table, ...]:
        from usi.report.comparison_tables import ranking_tables

        return ranking_tables(self)

    def to_pandas(self) -> pd.DataFrame:
        """One row a simulator: table, score and its bounds, rank interval, tie group."""
        import pandas as pd

        return pd.DataFrame(
            [
                {"table": k, "name": r.name, "value": r.value,
                 "low": board.entries[r.name].index.low, "high": board.entries[r.name].index.high,
                 "best": r.best, "worst": r.worst, "group": r.group}
                for k, board in enumerate(self.tables)
                for r in board.ranking.rows
            ]
        )  # fmt: skip


@dataclass(frozen=True, repr=False)
class StudyPlan(_Tabled, Plan):
    """A plan that shows itself."""

    def _tables(self) -> tuple[tables.Table, ...]:
        from usi.report.comparison_tables import plan_tables

        return plan_tables(self)

    def to_pandas(self) -> pd.DataFrame:
        """One row a number of runs: tasks for the index near and far, and for all parts."""
        import pandas as pd

        return pd.DataFrame(
            [
                {"runs": line.runs, "index_near": line.index_near,
                 "index_far": line.index_far, "all_parts": line.all_parts}
                for line in self.trade
            ]
        )  # fmt: skip


def load(
    transcripts: Transcripts,
    *,
    # options: LoadOptions
    format: str | None = None,  # noqa: A002
    domain: str | None = None,
    name: str | None = None,
    max_record: int = 64 * 2**20,
    user_role: str | None = None,
    user_speaker: str | None = None,
    flip: bool = False,
    map: Mapping[str, str] | None = None,  # noqa: A002
    # end of options
) -> Loaded:
    """Read transcripts of any known format into memory.

    Parameters
    ----------
    transcripts
        Paths of files, folders or archives; a frame of pandas or polars, a table of pyarrow, a
        list of dictionaries, or anything that gives one dictionary a row (a Hugging Face
        ``Dataset``): one message a row, or one session a row with a list of messages.
    format
        Read as FORMAT (see: usi formats), not by content.
    domain
        Domain of files that name none.
    name
        Name of the simulator in place of the file's name.
    max_record
        Largest record that is read, such as 64MB (default). Of JSON Lines a line, of an array an
        element, in bytes.
    user_role
        Messages of this role are the user's. As it is written in the data; messages of the role
        user are then the agent's. A session without this role is read by rule.
    user_speaker
        Messages of this speaker are the user's.
    flip
        Swap user and assistant: logs that store the simulator as assistant. Of simulators'
        transcripts alone, never of people's.
    map
        Columns of a table: session=COLUMN,role=COLUMN,text=COLUMN,... Meanings: session, role,
        text, order, time, name, task, trial, batch, domain, simulator, participant, agent, reward,
        outcome, termination, status, status_reason, survey, layout, keep, error_tags.

    Raises
    ------
    InputError
        With every bad row, its file, row and field.
    UsageError
        For data of another kind; the message says what is accepted.
    """
    return _load(transcripts, _chosen(LoadOptions, locals()))


def features(
    transcripts: Transcripts,
    *,
    side: Side,
    cleaning: Side | None = None,
    # options: ProfileOption, LoadOptions, LanguageOption, ScoreOptions.run_ids
    profile: str | None = None,
    format: str | None = None,  # noqa: A002
    domain: str | None = None,
    name: str | None = None,
    max_record: int = 64 * 2**20,
    user_role: str | None = None,
    user_speaker: str | None = None,
    flip: bool = False,
    map: Mapping[str, str] | None = None,  # noqa: A002
    language: str | None = None,
    run_ids: Literal["auto", "suffix", "none"] = "auto",
    # end of options
) -> SessionTable:
    """Compute the session table of transcripts: one row a session, in input order, with keys.

    Parameters
    ----------
    transcripts
        As for `load`, or what `load` gave.
    side
        ``"human"`` or ``"simulated"``: decides keys and, unless `cleaning` says otherwise,
        which messages are dropped.
    cleaning
        Clean messages as those of this side.
    profile
        Scoring definition. tau-usi (as published), robust (the default) or log (operational logs).
    format
        Read as FORMAT (see: usi formats), not by content.
    domain
        Domain of files that name none.
    name
        Name of the simulator in place of the file's name.
    max_record
        Largest record that is read, such as 64MB (default). Of JSON Lines a line, of an array an
        element, in bytes.
    user_role
        Messages of this role are the user's. As it is written in the data; messages of the role
        user are then the agent's. A session without this role is read by rule.
    user_speaker
        Messages of this speaker are the user's.
    flip
        Swap user and assistant: logs that store the simulator as assistant. Of simulators'
        transcripts alone, never of people's.
    map
        Columns of a table: session=COLUMN,role=COLUMN,text=COLUMN,... Meanings: session, role,
        text, order, time, name, task, trial, batch, domain, simulator, participant, agent, reward,
        outcome, termination, status, status_reason, survey, layout, keep, error_tags.
    language
        Language of sessions that declare none, such as de.
    run_ids
        Split ids into task and run: published rule (auto, default), always, never. auto: the
        published rule on files of tau-usi; suffix: always at the last underscore; none: never.
        Files with a trial field use it, except where every trial occurs with one task only.
    """
    return _features(
        transcripts,
        side=side,
        profile=profile,
        cleaning=cleaning,
        run_ids=run_ids,
        language=language,
        options=_chosen(LoadOptions, locals()),
    )


def score(
    simulators: Transcripts | SessionTable | Mapping[str, Transcripts | SessionTable],
    human: Transcripts | SessionTable,
    *,
    # options: ProfileOption, LoadOptions, LanguageOption, ScoreOptions
    profile: str | None = None,
    format: str | None = None,  # noqa: A002
    domain: str | None = None,
    name: str | None = None,
    max_record: int = 64 * 2**20,
    user_role: str | None = None,
    user_speaker: str | None = None,
    flip: bool = False,
    map: Mapping[str, str] | None = None,  # noqa: A002
    language: str | None = None,
    preset: str | None = None,
    log_config: str | None = None,
    timezone: str | None = None,
    case: str | None = None,
    activity: str | None = None,
    time: str | None = None,
    no_classes: bool = False,
    horizon: float | None = None,
    standardise: bool = True,
    human_runs: Sequence[str] = (),
    sim_runs: Sequence[str] = (),
    human_where: Sequence[str] = (),
    sim_where: Sequence[str] = (),
    tasks: Literal["all", "common"] = "all",
    design: Literal["auto", "paired", "unpaired"] = "auto",
    cluster: str = "task",
    group: str | None = None,
    strata: str | None = None,
    by: Sequence[str] = (),
    success_at: float | None = None,
    other_agent: bool = False,
    survey_design: Literal["same-transcript", "same-task"] | None = None,
    c2st: Literal["off", "fast", "full"] = "fast",
    replicates: int = 2000,
    seed: int = 7,
    surveys: str | Path | None = "auto",
    difficulty: str = "frozen",
    run_ids: Literal["auto", "suffix", "none"] = "auto",
    human_source: Literal["auto", "human", "simulated"] = "auto",
    # end of options
) -> ScoredCard:
    """Score simulators against a human reference.

    Parameters
    ----------
    simulators
        Paths, one simulator each; other transcripts (see `load`) of one simulator; a session
        table; or a dictionary from label to any of these.
    human
        A path, a name under ``human_corpus/`` of the workspace, other transcripts, or a session
        table.
    profile
        Scoring definition. tau-usi (as published), robust (the default) or log (operational logs).
    format
        Read as FORMAT (see: usi formats), not by content.
    domain
        Domain of files that name none.
    name
        Name of the simulator in place of the file's name.
    max_record
        Largest record that is read, such as 64MB (default). Of JSON Lines a line, of an array an
        element, in bytes.
    user_role
        Messages of this role are the user's. As it is written in the data; messages of the role
        user are then the agent's. A session without this role is read by rule.
    user_speaker
        Messages of this speaker are the user's.
    flip
        Swap user and assistant: logs that store the simulator as assistant. Of simulators'
        transcripts alone, never of people's.
    map
        Columns of a table: session=COLUMN,role=COLUMN,text=COLUMN,... Meanings: session, role,
        text, order, time, name, task, trial, batch, domain, simulator, participant, agent, reward,
        outcome, termination, status, status_reason, survey, layout, keep, error_tags.
    language
        Language of sessions that declare none, such as de.
    preset
        Both sides are logs of this system: bpic2013, github-issues, jira, servicenow, uci-incident,
        zendesk.
    log_config
        Both sides are logs read by this file (usi logs suggest drafts one).
    timezone
        Zone of times that carry none.
    case
        Column of the case id. In place of what the preset or configuration says, or of the usual
        names.
    activity
        Column of the activity. In place of what the preset or configuration says, or of the usual
        names.
    time
        Column of the time. In place of what the preset or configuration says, or of the usual
        names.
    no_classes
        Logs without a class map: waiting, outcome not assessed.
    horizon
        Look at so many hours of every case, the same on both sides.
    standardise
        Weight simulated cases to the real mix of priority and category (default).
    human_runs
        Batches (or trials) of the reference; odd, even: halves of each task. Labels as in the
        tables; empty keeps all. odd and even keep every other session of each task, for data
        without runs.
    sim_runs
        Runs (trials) of the simulators; odd, even: halves of each task.
    human_where
        Only people's sessions with this value, as domain=hotel.
    sim_where
        The same for the simulators' sessions.
    tasks
        all: refuse under 95 % of the tasks (default); common: those in common.
    design
        The same tasks on both sides, or not; default: found, and said.
    cluster
        What is drawn again as a whole: task (default), participant, a column.
    group
        Pair on task families: the values of this column.
    strata
        Column with a difficulty known beforehand, as priority. It takes the place of a difficulty
        pool.
    by
        Score within every value of this column, too; may be given again. difficulty means the
        difficulty bins.
    success_at
        Success is a reward of at least this (default 1). Rewards other than 0 and 1 are not
        assessed before a threshold is declared.
    other_agent
        Compare success although the sides talked to different agents.
    survey_design
        What was rated: the person's own transcript, or the same task. Without it: as the corpus
        declares of its survey files, else the same task.
    c2st
        Two-sample test: fast (default), full for tier A (minutes), off. full permutes labels, fast
        uses a closed form.
    replicates
        Bootstrap replicates (default 2000).
    seed
        Seed of what is drawn at random (tau-usi has the published one).
    surveys
        Folder with survey_comparable_<label>.json; default: survey_data/ beside CORPUS.
    difficulty
        Task difficulties: the published map (default), none, JSON; self with tau-usi. JSON holds
        task -> success rate; self pools over the simulators being scored.
    run_ids
        Split ids into task and run: published rule (auto, default), always, never. auto: the
        published rule on files of tau-usi; suffix: always at the last underscore; none: never.
        Files with a trial field use it, except where every trial occurs with one task only.
    human_source
        How the reference is cleaned; default: by what the file is. A file recognised as output of a
        simulator defaults to simulated, and the card says that the reference is no human.

    Returns
    -------
    ScoredCard
        A `Scorecard` with ``.to_pandas()``, ``.features_to_pandas()``, ``.plot()``, ``.write()``,
        ``.to_dict()`` and ``.to_json()``.

    Raises
    ------
    InputError, UsageError
        For data or options that can't be used.
    NotScorable
        Where no honest score follows from the data.
    """
    options = _chosen(ScoreOptions, locals())
    result = score_with_tables(
        _simulators(simulators, options),
        human if isinstance(human, str | Path | SessionTable) else _people(human, options),
        profile=profile,
        options=options,
    )
    return ScoredCard.of(result.card, result.sums)


def gate(
    card: Scorecard | str | Path,
    criteria: str | Path | Mapping[str, Any] | Criteria = "B",
    *,
    simulator: str | None = None,
    as_of: str | None = None,
    scored_on: str | None = None,
    trust_edited: bool = False,
) -> GateVerdict:
    """Decide on the simulators of a scorecard: PASS, FAIL or INCONCLUSIVE.

    Parameters
    ----------
    card
        A scorecard or its file.
    criteria
        ``"A"``, ``"B"`` or ``"C"``, a criteria file, a dictionary of its keys, or `Criteria`.
    simulator
        Decide on this one alone.
    as_of, scored_on
        Day that expiry counts to, and day of scoring, ``YYYY-MM-DD``.
    trust_edited
        Take a scorecard that was changed after scoring.

    Raises
    ------
    UsageError
        For criteria that do not exist, or a scorecard without bounds.
    """
    from usi.decisions.decide import gate_scorecard
    from usi.decisions.evidence import read_evidence
    from usi.reasons import CARD_WITHOUT_FILE, Reason

    doubts: tuple[Reason, ...] = ()
    if isinstance(card, str | Path):
        wanted = None if simulator is None else (simulator,)
        read = read_evidence(card, simulators=wanted, trust_edited=trust_edited)
        given, doubts = read.card, read.doubts
    else:
        given = _card(card)
        doubts = () if isinstance(card, ScoredCard) else (CARD_WITHOUT_FILE(),)
    found = gate_scorecard(
        given,
        _criteria(criteria),
        as_of,
        scored_on=scored_on,
        simulator=simulator,
        doubts=doubts,
    )
    return GateVerdict.model_construct(
        **{name: getattr(found, name) for name in Verdict.model_fields}
    )


def compare(
    a: Scorecard | str | Path,
    b: Scorecard | str | Path,
    *,
    # options: CompareOptions
    trust_edited: bool = False,
    simulator: str | None = None,
    other: str | None = None,
    # end of options
) -> ComparedCards:
    """Compare two simulators against the same people: better, worse, or noise.

    Parameters
    ----------
    a, b
        What `score` gave, or files of scorecards.
    trust_edited
        Take a scorecard that was changed after scoring.
    simulator
        Simulator of A, and of B where --other is not given; needed where a scorecard has several.
    other
        Simulator of B.
    """
    from usi.decisions.tables import compare_files

    with tempfile.TemporaryDirectory() as folder:
        first, second = (
            _file(card, Path(folder, f"{letter}.json")) for letter, card in (("a", a), ("b", b))
        )
        found = compare_files(
            first,
            second,
            simulator_a=simulator,
            simulator_b=other or simulator,
            trust_edited=trust_edited,
        )
    return _as(ComparedCards, found)


def rank(
    cards: Scorecard | str | Path | Sequence[Scorecard | str | Path],
    *,
    # options: RankOptions
    trust_edited: bool = False,
    as_of: str | None = None,
    alpha: float = 0.05,
    # end of options
) -> RankedCards:
    """Rank simulators with rank intervals and tie groups.

    Parameters
    ----------
    cards
        What `score` gave, files of scorecards, or folders that hold some.
    trust_edited
        Take a scorecard that was changed after scoring.
    as_of
        Day that expiry counts to.
    alpha
        Chance that some rank lies outside its interval.
    """
    from usi.decisions.tables import rank_files

    given = [cards] if isinstance(cards, str | Path | Scorecard) else list(cards)
    with tempfile.TemporaryDirectory() as folder:
        paths = [_file(card, Path(folder, f"{k}.json")) for k, card in enumerate(given)]
        found = rank_files(paths, alpha=alpha, as_of=as_of, trust_edited=trust_edited)
    return _as(RankedCards, found)


def plan(
    criteria: str | Path | Mapping[str, Any] | Criteria = "B",
    *,
    truth: float = 100.0,
    power: float = 0.8,
    batches: int = 3,
    tasks: int | None = None,
    runs: int | None = None,
    pilot: Scorecard | str | Path | None = None,
    simulator: str | None = None,
    trust_edited: bool = False,
) -> StudyPlan:
    """Plan a study: tasks for a power, by number of runs, and what a given design can show.

    Parameters
    ----------
    criteria
        As for `gate`.
    truth
        True score of the simulator in every part, in points.
    power
        Wanted chance of PASS, 0 to 1.
    batches
        Rounds of people.
    tasks, runs
        A design to judge.
    pilot
        A scorecard to take the noise from.
    simulator
        Which simulator of the pilot.
    trust_edited
        Take a pilot that was changed after scoring.
    """
    from usi.decisions.plan import make_plan, pilot_of_card
    from usi.decisions.simulator_terms import pick_simulator

    rules = _criteria(criteria)
    noise = None
    if pilot is not None:
        card = _card(pilot, trust_edited=trust_edited)
        noise = pilot_of_card(card, pick_simulator(card, simulator, "the pilot"))
    found = make_plan(
        rules, truth=truth, power=power, batches=batches, tasks=tasks, runs=runs, pilot=noise
    )
    return _as(StudyPlan, found)


# From what the caller has to what the pipeline takes -----------------------------------------


def _simulators(given: object, options: ScoreOptions) -> Any:
    """Paths and session tables as they are, everything else as streams by label."""
    if is_paths(given) or isinstance(given, SessionTable):
        return given
    own = options.load_options(human=False)
    if isinstance(given, Mapping):
        if all(isinstance(value, SessionTable) for value in given.values()):
            return given
        return Streams(tuple(_named(str(k), value, own) for k, value in given.items()))
    if _is_list_of_data(given):
        return Streams(tuple(stream_of(value, own) for value in given))
    return Streams((stream_of(given, own),))


def _named(label: str, value: object, options: LoadOptions) -> SessionStream:
    if isinstance(value, SessionTable):
        raise UsageError(
            f"{label}: session tables and transcripts do not go together; make session tables of "
            "all of them with usi.features"
        )
    return stream_of(value, replace(options, name=label))


def _is_list_of_data(value: object) -> TypeGuard[Sequence[object]]:
    """Whether a value is a list of transcripts, and not of rows."""
    return isinstance(value, list | tuple) and not any(isinstance(v, Mapping) for v in value)


def _people(given: object, options: ScoreOptions) -> SessionStream:
    return stream_of(given, options.load_options(human=True))


Group = TypeVar("Group")


def _chosen(group: type[Group], said: Mapping[str, Any]) -> Group:
    """A group of options from the keywords of a function, which have the same names.

    Raises
    ------
    UsageError
        For one text where a list of labels is asked for.
    """
    return group(**{name: _value(group, name, said[name]) for name in declared(group)})


def _value(group: type[Any], name: str, given: Any) -> Any:
    usual = default_of(group, name)
    if not isinstance(usual, tuple):
        return usual if given is None and isinstance(usual, Mapping) else given
    if isinstance(given, str):
        raise UsageError(f"{name}={given!r}: give a list of labels, such as [{given!r}]")
    return tuple(str(label) for label in given)


def _card(given: Scorecard | str | Path, *, trust_edited: bool = False) -> Scorecard:
    if isinstance(given, Scorecard):
        return given
    if isinstance(given, str | Path):
        return Scorecard.read(given, trust_edited=trust_edited)
    raise UsageError(
        f"a scorecard can't be a {type(given).__name__}; give what usi.score gave, or a file"
    )


def _file(given: Scorecard | str | Path, place: Path) -> str | Path:
    """A file of the card with its sums beside it, where there are some."""
    if isinstance(given, ScoredCard):
        given.write(place)
        return place
    card = _card(given)
    if isinstance(given, str | Path):
        return given
    place.write_text(card.to_json(), encoding="utf-8")
    return place


def _criteria(given: str | Path | Mapping[str, Any] | Criteria) -> Criteria:
    from usi.decisions.criteria import Criteria as Rules
    from usi.decisions.criteria import load_criteria, resolve

    if isinstance(given, Rules):
        return given
    if isinstance(given, Mapping):
        return resolve(given)
    if isinstance(given, str | Path):
        return load_criteria(str(given))
    raise UsageError(
        f"criteria can't be a {type(given).__name__}; give A, B or C, a file, a dictionary of its "
        "keys, or Criteria"
    )


Result = TypeVar("Result", ComparedCards, RankedCards, StudyPlan)


def _as(kind: type[Result], found: Comparison | Rankings | Plan) -> Result:
    return kind(**{field.name: getattr(found, field.name) for field in fields(found)})


# What notebooks show --------------------------------------------------------------------------


def _axes(height: float) -> Axes:
    from matplotlib import pyplot

    return pyplot.subplots(figsize=(7.0, height), layout="constrained")[1]
