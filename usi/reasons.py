"""Every reason that usi gives: its code, its text and what would mend it, each once.

A reason says why there is no number, why a session was left out, what a reader is warned of, or
what a check of the gate found. Programs compare `Reason.code`; people read `Reason.text`. To add a
reason, add one `Code` below and call it with the parameters that its text names::

    NO_TASKS = Code("no_tasks", "{side} sessions name no task", "data", "add `task_id`")
    ...
    not_assessed(NO_TASKS, side="human")
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from string import Formatter
from typing import Any, Literal

Kind = Literal["data", "rescore", "tasks", "runs", "nothing"]
"""What would mend it: other data, another scoring, more tasks, more runs, or nothing would."""
Value = str | int | float | None


@dataclass(frozen=True)
class Reason:
    """A code with its parameters, and the text that both make.

    Attributes
    ----------
    code
        Name of a `Code`; stable, and what programs decide by.
    text
        One sentence for people; its wording may change.
    parameters
        What the text was filled with: names, counts, numbers.
    cause
        The reason behind this one, where it follows from another.
    """

    code: str
    text: str
    parameters: Mapping[str, Value] = field(default_factory=dict, hash=False)
    cause: Reason | None = None

    def __str__(self) -> str:
        return self.text

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> Reason:
        """The reason that `dataclasses.asdict` made plain data of."""
        cause = told["cause"]
        return cls(
            str(told["code"]),
            str(told["text"]),
            dict(told["parameters"]),
            None if cause is None else cls.from_dict(cause),
        )

    @property
    def root(self) -> Reason:
        """The reason that all the others follow from."""
        return self if self.cause is None else self.cause.root

    def is_a(self, *codes: Code) -> bool:
        """Whether it has one of these codes."""
        return self.code in {code.name for code in codes}


@dataclass(frozen=True)
class Code:
    """A reason without its parameters.

    Parameters
    ----------
    name
        Stable and unique, lower case with underscores.
    template
        Text with the parameters in braces, as for `str.format`; ``{cause}`` is another reason.
    kind, way
        What would mend it and how, for the advice of the gate; without `way` the text says how.
    alone
        Whether the advice says the reason, too, so that it stands without the text.
    subject
        What it is said of, in front of the text: ``session``, ``outcome``, ``language``.
    more
        Parameters that the text does not name: the numbers behind a text that shows them rounded.

    Examples
    --------
    >>> reason = Code("few_runs", "{have} runs, {least} are needed")(have=1, least=2)
    >>> reason.code, reason.text, reason.parameters
    ('few_runs', '1 runs, 2 are needed', {'have': 1, 'least': 2})
    """

    name: str
    template: str
    kind: Kind | None = None
    way: str | None = None
    alone: bool = False
    subject: str = ""
    more: tuple[str, ...] = ()

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names that the text needs, in its order, and those beyond it."""
        return (*names_in(self.template), *self.more)

    @property
    def text(self) -> str:
        """The template with what it is said of in front."""
        return f"{self.subject}: {self.template}" if self.subject else self.template

    def __call__(self, *, cause: Reason | None = None, **parameters: Any) -> Reason:
        """The reason for these parameters, and what it follows from.

        Raises
        ------
        TypeError
            Where a parameter is missing or unknown: a defect of usi.
        """
        needed = set(self.parameters)
        if parameters.keys() != needed - {"cause"} or ("cause" in needed and cause is None):
            raise TypeError(f"{self.name} needs {self.parameters}, not {tuple(parameters)}")
        plain = {name: _plain(value) for name, value in parameters.items()}
        return Reason(self.name, self.text.format(**plain, cause=cause), plain, cause)


def names_in(template: str) -> tuple[str, ...]:
    """Names of the parameters of a text, each once, in its order."""
    found = (name for _, name, _, _ in Formatter().parse(template) if name)
    return tuple(dict.fromkeys(found))


def _plain(value: Any) -> Value:
    """A number of Python in place of one of numpy; what is not a number, as text."""
    number = value.item() if hasattr(value, "item") else value
    return number if number is None or isinstance(number, int | float) else str(number)


def reason_of(told: Code | Reason, parameters: Mapping[str, Any]) -> Reason:
    """The reason itself, or that of a code with its parameters."""
    if isinstance(told, Code):
        return told(**parameters)
    if parameters:
        raise TypeError(f"{told.code} has its parameters already")
    return told


def remedy(reason: Reason, **more: Value) -> tuple[Kind, str] | None:
    """What would mend a reason, and how; ``None`` where nothing general can be said.

    Parameters
    ----------
    reason
        The remedy is that of its root.
    more
        Parameters that the reason does not know: ``resampled``, what is resampled, in words.
    """
    code = code_of(reason.root)
    if code is None or code.kind is None:
        return None
    if code.way is None:
        return code.kind, reason.text
    way = code.way.format(**{**more, **reason.root.parameters})
    return code.kind, way if code.alone else f"{reason}; {way}"


def by_text(counts: Mapping[Reason, int]) -> list[tuple[Reason, int]]:
    """Reasons with their counts in the order of their texts; those with a count of 0 are gone."""
    return sorted(((r, n) for r, n in counts.items() if n), key=lambda pair: pair[0].text)


def without_subject(reason: Reason) -> str:
    """The text of a reason without what it is said of, for lists that say that once.

    >>> without_subject(FAILED_RUN_TOLD(why="timeout"))
    'failed run (timeout)'
    """
    code = code_of(reason)
    if code is None:
        return reason.text
    return code.template.format(**reason.parameters, cause=reason.cause)


def code_of(reason: Reason) -> Code | None:
    """The code of a reason; ``None`` where it is of another version of usi."""
    return CODES.get(reason.code)


# No value, or no honest one: features.
NO_VALUE = Code("no_value", "no session of {who} has a value")
NO_SESSION_VALUE = Code("no_session_value", "no session has a value")
NO_HUMAN_VALUE = Code("no_human_value", "no human session has a value")
NOT_BY_MEANS = Code(
    "not_by_means", "an interval scale is compared by its distribution, not by means"
)
NO_RELATIVE_GAP = Code("no_relative_gap", "an interval scale has no relative gap")
FEW_HUMAN_HITS = Code(
    "few_human_hits", "{hits} human sessions show it, at least {least} are needed"
)
COUNTED_IN_POOL = Code(
    "counted_in_pool",
    "counted in {pool}: {hits} human sessions show it, at least {least} are needed to score it by "
    "itself",
)
JOINED_POOL = Code("joined_pool", "counted in {pool}, which too few human sessions show without it")
POOLED = Code("pooled", "{members} together")
FEW_HUMAN_MISSES = Code(
    "few_human_misses", "{hits} human sessions show it not, at least {least} are needed"
)
PEOPLE_CONSTANT = Code("people_constant", "people do not vary in it")
NOT_IN_SET = Code("not_in_set", "not in the set of features that the corpus fixes")
NO_WORD_LISTS = Code("no_word_lists", "language: no word lists for {languages}")
NO_STAMPS = Code("no_time_stamps", "no time stamps")
STAMPS_OUT_OF_ORDER = Code(
    "time_stamps_out_of_order", "no time stamps that lie after those of the agent's messages"
)
PAIRED_ONLY = Code("paired_only", "follows the task, not the user: scored in paired designs only")
NEITHER_COMPARED = Code("neither_compared", "neither side shows it in what is compared")
NEITHER_SHOWS = Code("neither_shows", "neither side shows it")
NO_VALUE_ON_BOTH = Code("no_value_on_both", "no value on both sides")
ONE_SIDE_ALONE = Code("one_side_alone", "the reference stands on one side alone")
HARNESS = Code("harness", "a property of the harness, never scored")

# Dimensions, components, index.
FEW_FEATURES = Code("few_features", "{scored} of its {declared} features can be scored")
FEW_FEATURES_UNPAIRED = Code(
    "few_features_unpaired",
    "{scored} of its {declared} features can be scored in an unpaired design",
)
FEATURES_RARE = Code(
    "features_rare",
    "too few of its features occur in what is compared",
    "tasks",
    "compare more sessions: its features hardly occur in those that are compared",
)
ONE_UNIT = Code(
    "one_unit",
    "one {unit} alone: nothing to resample, so no bounds",
    "tasks",
    "sessions of at least two {resampled}, and of many for bounds",
)
ONE_PARTICIPANT = Code(
    "one_participant",
    "one participant did every session: nothing tells how people differ",
    "data",
    "sessions of several people",
)
FEW_SESSIONS_SHOW = Code(
    "few_sessions_show",
    "too few sessions show it for a bound",
    "tasks",
    "more sessions, best on more {resampled}",
)
FEW_SIMULATOR_SESSIONS = Code(
    "few_simulator_sessions",
    "{have} simulator sessions, an index needs at least {least}",
    "runs",
    "{least} sessions of the simulator (now {have})",
)
COMPONENT_MISSING = Code("component_missing", "{component} is not assessed ({cause})")
COMPONENTS_MISSING = Code("components_missing", "{missing}")
COMPONENT_NOT_ASSESSED = Code("component_not_assessed", "{component} is not assessed")
ANCHOR_WITHOUT = Code("anchor_without", "{component}: {cause}")
NOT_ASSESSED = Code("not_assessed", "not assessed")

# Outcome.
NO_OUTCOMES = Code("no_outcomes", "no outcomes")
NO_HUMAN_OUTCOME = Code(
    "no_human_outcome",
    "no human session has an outcome",
    "data",
    "no rewards on the human side: add `reward` (or `outcome`) to the human sessions",
    alone=True,
)
NO_SIMULATED_OUTCOME = Code(
    "no_simulated_outcome",
    "no simulated session has an outcome",
    "data",
    "no rewards on the simulator's side: grade its runs and add `reward` (or `outcome`)",
    alone=True,
)
REWARDS_NOT_BINARY = Code(
    "rewards_not_binary",
    "rewards other than 0 and 1 (such as {example:g}): declare what counts as success "
    "(--success-at)",
    "rescore",
    "score again with --success-at N",
)
OTHER_AGENT = Code(
    "other_agent",
    "people talked to another agent ({people}) than the simulator ({simulator}): success is "
    "compared with one agent and version on both sides (--other-agent to do so all the same)",
    "data",
    "run the simulator with the agent that people talked to, or score again with --other-agent",
)
TASKS_DIFFER = Code(
    "tasks_differ",
    "tasks differ: success is compared only within declared strata (--strata COLUMN)",
    "rescore",
    "run the simulator on the people's tasks, or score again with --strata COLUMN",
)
NO_COMMON_BIN = Code(
    "no_common_bin",
    "no bin has outcomes on both sides",
    "data",
    "add rewards for tasks of the same difficulty on both sides",
)
BIN_EMPTY = Code("bin_empty", "no outcome in this bin")
BIN_ONE_SIDED = Code("bin_one_sided", "no outcome on both sides in this bin")
SUCCESS_CONSTANT = Code("success_constant", "reward or perceived success does not vary")
NO_FAILURES = Code("no_failures", "no session with reward 0")
NO_REFUSALS = Code("no_refusals", "no refusal well explained")

# Design, batches, floors, subgroups.
COVERAGE_UNPAIRED = Code("coverage_unpaired", "coverage has no meaning in an unpaired design")
ICC_SIZES = Code("icc_sizes", "needs at least 2 tasks, and tasks with at least 2 sessions")
CONSTANT = Code("constant", "it does not vary")
TWO_BATCHES = Code("two_batches", "needs two human batches")
BATCHES_UNPAIRED = Code("batches_unpaired", "batches are not compared in unpaired designs")
PEOPLE_ALONE = Code("people_alone", "people alone")
BATCH_TOO_SMALL = Code("batch_too_small", "a single run or batch is too small for every component")
ONE_BATCH = Code(
    "one_batch", "people are compared with each other over at least two batches of the same tasks"
)
NO_SHARED_TASKS = Code("no_shared_tasks", "no tasks are known that the {batches} batches share")
BATCHES_SHARE_LITTLE = Code(
    "batches_share_little",
    "people are compared batch by batch ({batches}), and some two of these batches share too "
    "little for every component",
    "rescore",
    "if rounds of people had few tasks in common, divide them by participant or date: batch_by in "
    "the manifest (usi corpus add --batch-by)",
)
BATCHES_SHARE_LITTLE_MOST = Code(
    "batches_share_little_most",
    "people are compared batch by batch (the {most} largest of {batches}), and some two of these "
    "batches share too little for every component",
    "rescore",
    "if rounds of people had few tasks in common, divide them by participant or date: batch_by in "
    "the manifest (usi corpus add --batch-by)",
)
AGGREGATE = Code(
    "aggregate_reference",
    "the reference is an aggregate: it holds numbers by task and no session",
    "rescore",
    "score against the corpus itself, not its aggregate",
)
THREE_DOMAINS = Code(
    "three_domains", "needs {least} human sessions in each of three domains at least"
)
DOMAINS_TOO_SMALL = Code("domains_too_small", "no domain has enough people for the dimensions")
NO_AGENT_MESSAGES = Code(
    "no_agent_messages", "a session table holds no message of the agent to echo"
)
SUBGROUP_EMPTY = Code("subgroup_empty", "no session of the {who}")
NO_USER_TURNS = Code(
    "no_user_turns", "no session of this simulator has a user turn: nothing can be scored"
)

# Survey.
NO_SURVEY = Code(
    "no_survey",
    "people answered no survey",
    "data",
    "add survey answers of people (`survey` in the sessions, or --surveys DIR)",
)
SURVEY_ABSENT = Code("survey_absent", "no survey")
SURVEY_ELSEWHERE = Code("survey_elsewhere", "see human_kappa of the simulators")
ANSWERS_CONSTANT = Code("answers_constant", "answers do not vary")
CONSTANT_IS_RIGHT = Code("constant_is_right", "a constant answer makes no error")
NO_ANSWER = Code("no_answer", "no answer")
NO_ITEM_ANSWERED = Code("no_item_answered", "people answered no item")
NO_VALID_ANSWER = Code("no_valid_answer", "no valid answer on both sides")
ONE_TASK = Code("one_task", "one task alone: no bounds")
NO_ORDINAL_ITEM = Code("no_ordinal_item", "no ordinal item")
NO_SECOND_RATER = Code(
    "no_second_rater",
    "no second person rated the same transcript",
    "data",
    "let other people rate the same sessions once more",
)
NO_SECOND_BATCH = Code(
    "no_second_batch",
    "needs a task that people rated in two batches",
    "data",
    "let other people rate the same sessions once more",
)

ANSWERS_UNPAIRED = Code(
    "answers_unpaired", "answers are compared on the same tasks only (paired design)"
)
AGGREGATE_BY_SESSION = Code(
    "aggregate_by_session",
    "the reference is an aggregate: it holds numbers by task and no session, and the survey is "
    "paired by session",
    "rescore",
    "score against the corpus itself, not its aggregate",
)
NO_SURVEY_FILES = Code("no_survey_files", "no survey files given (--surveys DIR)")
SURVEY_FILE_MISSING = Code(
    "survey_file_missing", "there is no survey_comparable_{label}.json among the surveys"
)
NO_SAME_TRANSCRIPT = Code(
    "no_same_transcript",
    "no two sessions of a task are the same transcript (--survey-design same-task compares "
    "answers on the task)",
)
SURVEY_OF_OTHERS = Code("survey_of_others", "the survey names no session of the reference")
NO_COMMON_ITEM = Code(
    "no_common_item", "people answered no item of a conversation that the survey file names"
)
NO_FIRST_BATCH = Code(
    "no_first_batch", "{label} names no conversation of batch 1 with an answered survey"
)

# The published index.
NO_SHARED_TASK = Code("no_shared_task", "no batch shares a task")
NO_SHARED_TASK_PAIRS = Code("no_shared_task_pairs", "no two batches share a task")
ONE_BATCH_PUBLISHED = Code(
    "one_batch_published",
    "the human row compares batches of people with each other, and the reference has one",
)
NO_REWARD = Code("no_reward", "no session of {who} has a reward")
INDEX_LACKS = Code(
    "index_lacks",
    "the index needs the four dimensions and the outcome of at least one batch: {cause}",
)

# Episodes and reviews.
NO_CHECKS = Code("no_checks", "no session with reward 1 has trajectory checks")
NOT_REVIEWED = Code(
    "not_reviewed",
    "the transcripts hold no review of the simulated user",
    "data",
    "review the runs with the harness (tau2 review), which notes such errors",
)

# Two-sample tests, distances, signs of gaming.
FEW_FOR_DISTANCE = Code(
    "few_for_distance",
    "needs {least} sessions a side where the feature is defined, there are {have}",
)
HUMAN_CONSTANT = Code("human_constant", "the human value never varies")
FEW_VARYING = Code("few_varying", "needs {least} features that vary among people, there are {have}")
FEW_FOR_CORRELATION = Code("few_for_correlation", "needs {least} sessions a side, there are {have}")
TWO_VARYING = Code("two_varying", "fewer than 2 features vary on both sides")
NO_PAIR_DEFINED = Code("no_pair_defined", "no pair of features is defined together")
FEW_HITS = Code("few_hits", "needs {least} hits on each side and turns in and out of the context")

# Task and content tracking, turn adjacency.
UNPAIRED_TRACKING = Code(
    "unpaired_tracking",
    "the tasks of the two sides differ: only sessions of one task can be put side by side",
    "data",
    "run the simulator on the tasks that the people did",
)
TRACKING_ONE_BATCH = Code(
    "tracking_one_batch",
    "one human batch: what people reach among themselves needs two",
    "data",
    "let people do the same tasks a second time (two batches)",
    alone=True,
)
NO_WORDS_KEPT = Code(
    "no_words_kept",
    "the session table holds no words",
    "rescore",
    "score the transcripts themselves",
)
PEOPLE_SHOW_NO_TASK = Code(
    "people_show_no_task",
    "people among themselves show no task in their {what}: there is nothing to compare with",
    "data",
    "more people on the same tasks, or tasks that differ more",
)
FEW_EXCHANGES = Code(
    "few_exchanges",
    "fewer than {least} sessions of {who} have three exchanges",
    "data",
    "sessions of three and more exchanges with the agent's messages in them",
)
PEOPLE_DO_NOT_ANSWER = Code(
    "people_do_not_answer",
    "people's replies fit the message before them hardly better than other messages of the session",
    "data",
    "transcripts with the agent's messages in the order in which they were said",
)

NO_SHARED_BATCHES = Code("no_shared_batches", "needs at least two batches of the same tasks")
FROZEN_MAP = Code(
    "frozen_map",
    "the frozen difficulty map holds the airline and retail tasks of tau-bench only; give "
    "--difficulty self or --difficulty FILE",
)
POOL_SMALL = Code(
    "pool_small",
    "a task needs at least {least} simulator runs in all files together for a difficulty of its "
    "own; give more runs, --difficulty frozen or --difficulty FILE",
)
POOL_OF_OTHERS = Code("pool_of_others", "the difficulty file does not name these tasks")
LEVEL_EMPTY = Code("level_empty", "no graded session of level {level}")
FEW_FOR_CLASSIFIER = Code(
    "few_for_classifier", "needs at least {least} sessions a side, there are {have}"
)
NO_FEATURE_VARIES = Code("no_feature_varies", "no feature varies")
FOLD_ONE_SIDED = Code(
    "fold_one_sided", "a fold holds one side only: tasks of the two sides do not mix"
)
NOT_SCORABLE = Code("not_scorable", "{message}")
SIDE_NOT_SCORABLE = Code("side_not_scorable", "{label}: {cause}")
LOW_COVERAGE = Code(
    "low_coverage",
    "{common} of {all} {units} of the reference occur on both sides ({share:.1f} %), and a paired "
    "score needs {needed:.0f} %{failed}: run the missing ones, or score those in common (--tasks "
    "common), or compare the populations (--design unpaired)",
)
NO_TASK_IN_COMMON = Code(
    "no_task_in_common",
    "--design paired, and no {unit} of the reference occurs in the simulator's sessions{hint}: "
    "check the ids (usi validate), or use --design unpaired",
)

# Trials of agents.
ALL_TIE = Code("all_tie", "all agents tie under one of the users")
FEW_SEEDS = Code("few_seeds", "needs at least 2 user and 2 agent seeds")
SUCCESS_FIXED = Code("success_fixed", "success never varies within a task")
FEW_AGENT_SEEDS = Code("few_agent_seeds", "pass^{k} needs {k} agent seeds, there are {have}")
FEW_USER_SEEDS = Code("few_user_seeds", "pass^{k} needs {k} user seeds, there are {have}")
FEW_OF_BOTH_SEEDS = Code("few_of_both_seeds", "needs {k} user and {k} agent seeds")
NO_TASK_TRIALS = Code("no_task_trials", "no task has {k} graded trials")
FEW_TRIALS = Code("few_trials", "{few} of {tasks} tasks have fewer than {k} graded trials")

# Operational logs.
NO_EVENTS = Code(
    "no_events",
    "a session table holds no sequence of events: score the logs themselves",
    "rescore",
    "score the logs themselves, not session tables",
)
FEW_CASES = Code("few_cases", "needs {real} real and {simulated} simulated cases")
NO_ENDED_CASE = Code("no_ended_case", "a side has no case that ended")
FEW_PAIRS = Code("few_pairs", "{have} cases have both, {least} are needed")
ONE_CONSTANT = Code("one_constant", "one of the two does not vary")
OTHER_COMPONENTS = Code("other_components", "other components can be assessed without")
FEW_SIMULATED_CASES = Code(
    "few_simulated_cases",
    "{have} simulated cases, an index needs at least {least}",
    "runs",
    "{least} sessions of the simulator (now {have})",
)
FEW_COMPONENTS = Code("few_components", "{have} of {all} components can be assessed")
FEW_RATED = Code("few_rated", "too few rated cases for bounds")
REAL_FEW_FEATURES = Code(
    "real_few_features", "too few features of the real log, or too few cases for halves of it"
)
REAL_FEW_ENDS = Code("real_few_ends", "the real log says of too few cases how they ended")
REAL_NO_SATISFACTION = Code(
    "real_no_satisfaction", "satisfaction is not compared within the real log"
)
NOTHING_TO_COMPARE = Code("nothing_to_compare", "nothing to compare")
SATISFACTION_NOT_REAL = Code(
    "satisfaction_not_real",
    "the real log has no satisfaction as a number, and nothing stands in for it",
)
SATISFACTION_NOT_SIMULATED = Code(
    "satisfaction_not_simulated",
    "the simulated log has no satisfaction as a number, and nothing stands in for it",
)
FEW_RATED_CASES = Code("few_rated_cases", "fewer than {least} rated cases on a side")
SATISFACTION_CONSTANT = Code("satisfaction_constant", "people do not vary in their satisfaction")

# What a check of the gate rests on and does not find.
NOT_ON_CARD = Code("not_on_card", "not on the scorecard")
NO_BOUNDS = Code(
    "no_bounds", "no bounds", "rescore", "score again with the profile robust, which has bounds"
)
NO_BOUNDS_ON_CARD = Code(
    "no_bounds_on_card",
    "no bounds on the scorecard",
    "rescore",
    "score again with the profile robust, which has bounds",
)
MEAN_OF_FEWER = Code(
    "mean_of_fewer",
    "{components} not assessed, and a mean over fewer components is another quantity",
)
NO_SUBGROUPS = Code(
    "no_subgroups",
    "the scorecard has no subgroups by {by}",
    "rescore",
    "score again with --by {by} (the sessions must have the field {by})",
)
NO_SECOND_RATING = Code(
    "no_second_rating",
    "no second human rating",
    "data",
    "let other people rate the same sessions once more",
)
HUMANS_UNKNOWN = Code("humans_unknown", "the humans' own agreement is not known: {cause}")
HUMANS_AT_CHANCE = Code(
    "humans_at_chance",
    "people agree among themselves no better than by chance (kappa {kappa:.2f}), so that this "
    "survey can't tell a judge from a guesser",
    "data",
    "another survey: no number of answers to this one tells a judge from a guesser",
)
NO_USER_REVIEW = Code(
    "no_user_review",
    "the transcripts hold no review of the user",
    "data",
    "review the runs with the harness (tau2 review), which notes such errors",
)
NO_TWO_SAMPLE = Code(
    "no_two_sample",
    "no two-sample test: score again without --c2st off",
    "rescore",
    "score again without --c2st off",
)
NO_PROCESS = Code(
    "no_process",
    "this is not on the scorecard: score the logs themselves",
    "rescore",
    "score the logs themselves, not session tables",
)
NO_NGRAMS = Code(
    "no_ngrams",
    "no 3-gram distance on the scorecard: score the logs themselves",
    "rescore",
    "score the logs themselves, not session tables",
)
LOG_LACKS_ROLE = Code("log_lacks_role", "the real log has no column of two and more {role}s")

# Left out, or repaired on the way.
NO_USER_TURN = Code("no_user_turn", "no user turn", subject="session")
FAILED_RUN = Code("failed_run", "failed run", subject="session")
FAILED_RUN_TOLD = Code("failed_run_told", "failed run ({why})", subject="session")
FAILED_RUN_OTHER = Code("failed_run_other", "failed run (other reasons)", subject="session")
INFRASTRUCTURE = Code("infrastructure", "infrastructure error", subject="session")
INFRASTRUCTURE_TOLD = Code("infrastructure_told", "infrastructure error ({why})", subject="session")
KEEP_NOT_TRUE = Code("keep_not_true", "keep mark is not true", subject="session")
NO_TASK = Code("no_task", "names no task", subject="session")
NO_COUNTERPART = Code(
    "no_counterpart", "the other side has no session of this task", subject="session"
)
NO_REFERENCE_SESSION = Code(
    "no_reference_session",
    "the reference has no session of this task (behaviour)",
    subject="session",
)
OUTCOME_ALONE = Code(
    "outcome_alone", "no user turn (its outcome counts, behaviour can't)", subject="session"
)
OTHER_PART = Code("other_part", "in a part of the corpus that is not read", subject="session")
CASE_TOO_YOUNG = Code("case_too_young", "case began less than the horizon before the log's end")
NO_TASK_ADDED = Code("no_task_added", "names no task (not in the aggregate)", subject="session")
TASK_TOO_SMALL = Code(
    "task_too_small", "of a task with too few people (not in the aggregate)", subject="session"
)
SILENT_AGENT = Code("silent_agent", "the agent says nothing in them", subject="sessions")
NO_SESSION_OF_TASK = Code(
    "no_session_of_task", "a run lacks a task that is compared", subject="sessions"
)
NO_RATED_OUTCOME = Code("no_rated_outcome", "none", subject="outcome")
REFUSED_RIGHTLY = Code(
    "refused_rightly", "a correct refusal, compared in a stratum of its own", subject="outcome"
)
CASE_NOT_ENDED = Code("case_not_ended", "the case is open or was cancelled", subject="outcome")
NULL_REWARD = Code("null_reward", "null reward, counted as 0", subject="outcome")
ANSWER_DRAWN = Code(
    "answer_drawn", "no valid answer, drawn at random as published", subject="survey"
)
OTHER_LANGUAGE = Code(
    "other_language", "session in {language} (its word lists)", subject="language"
)
LANGUAGE_UNREAD = Code(
    "language_unread",
    "session in {language} (no word lists, so no features of words)",
    subject="language",
)
TURN_REPAIRED = Code("turn_repaired", "{kind}", subject="repaired turn")
MESSAGE_NO_TURN = Code("message_no_turn", "{kind}", subject="message, no turn")
NO_LATENCY = Code(
    "no_latency", "user turn at or before the agent's message, no latency", subject="time stamp"
)
OTHER_STATUS = Code("other_status", "{status}", subject="session")
SET_ASIDE = Code("set_aside", "{what}")
# The blind check.
NO_BLIND_CHECK = Code(
    "no_blind_check",
    "the scorecard holds no blind check of this simulator",
    "data",
    "ask practitioners (usi blind), and add the result with usi blind join",
)
BLIND_ONE_SIDE = Code("blind_one_side", "no rater read sessions of both sides")
BLIND_FEW = Code(
    "blind_few",
    "{raters} raters and {sessions} sessions a side; at least {least_raters} raters and "
    "{least_sessions} sessions a side are needed",
    "data",
    "ask more raters, about more sessions",
)
BLIND_NO_RATINGS = Code("blind_no_ratings", "no ratings")
BLIND_NO_PAIR = Code("blind_no_pair", "no session was read by two raters")
BLIND_SAME = Code("blind_same", "all verdicts are the same")

# What a check of the gate found: where a value stands to its limit. The text shows the figures
# rounded, the parameters hold them as they are.
_BOUNDS = ("value", "low", "high")
REACHES = Code("reaches", "{title} {figures} reaches {limit:g}", more=_BOUNDS)
LIES_BELOW = Code("lies_below", "{title} {figures} lies below {limit:g}", more=_BOUNDS)
LIES_BELOW_HOLM = Code(
    "lies_below_holm",
    "{title} {figures} lies below {limit:g} (upper bound, Holm over {family})",
    more=_BOUNDS,
)
NOT_SURELY_BELOW = Code(
    "not_surely_below",
    "{title} {figures} is below {limit:g}, not surely enough among {family} tests (Holm)",
    more=_BOUNDS,
)
NOT_SURELY_ABOVE = Code(
    "not_surely_above", "{title} {figures} is above {limit:g}, its lower bound is not", more=_BOUNDS
)
NOT_TOLD_FROM = Code(
    "not_told_from", "{title} {figures} can't be told from {limit:g}", more=_BOUNDS
)
NOT_SURELY_LEAST = Code(
    "not_surely_least", "{title} {figures} is not surely {limit:g} or more", more=_BOUNDS
)
WITHIN = Code("within", "{title} {figures} within {limit:g}", more=_BOUNDS)
NOT_SURELY_WITHIN = Code(
    "not_surely_within", "{title} {figures} not surely within {limit:g}", more=_BOUNDS
)
LIES_ABOVE = Code("lies_above", "{title} {figures} lies above {limit:g}", more=_BOUNDS)
WHOLLY_OUTSIDE = Code("wholly_outside", "{title} {figures} wholly outside {limit:g}", more=_BOUNDS)
EASY_MODE = Code("easy_mode", "{title} {figures} wholly above +{limit:g}: easy mode", more=_BOUNDS)
HARDER_THAN_PEOPLE = Code(
    "harder_than_people",
    "{title} {figures} wholly below -{limit:g}: harder than people",
    more=_BOUNDS,
)
CHECK_NOT_ASSESSED = Code("check_not_assessed", "{title} not assessed: {cause}")
SURVEY_NOT_COMPARED = Code("survey_not_compared", "people answered a survey: {cause}")

# What a check of the gate found: counts, days and the evidence itself.
_KAPPA = "survey kappa {kappa:.2f}, people {people:.2f}: "
KAPPA_REACHES = Code("kappa_reaches", _KAPPA + "lower bound {low:.2f} reaches {limit:.2f}")
KAPPA_BELOW = Code("kappa_below", _KAPPA + "upper bound {high:.2f} is below {limit:.2f}")
KAPPA_NOT_SURELY = Code(
    "kappa_not_surely", _KAPPA + "lower bound {low:.2f} does not reach {limit:.2f}"
)
SURVEY_PARTLY_ANSWERED = Code("survey_partly_answered", "{share:.0%} of the survey answered")
ENOUGH_UNITS = Code("enough_units", "{have} {unit}")
FEW_UNITS = Code("few_units", "{have} {unit}, at least {least} are required")
DESIGN_LIMITS = Code("design_limits", "{design} design: tier {limit} at most, not {asked}")
COVERAGE_LOW = Code("coverage_low", "{share:.1%} of the tasks occur on both sides")
NO_SCORING_DAY = Code(
    "no_scoring_day", "no run record next to the scorecard says when it was scored"
)
SCORED_BEFORE = Code("scored_before", "scored {days} days before {day}")
SCORED_TOO_LONG_BEFORE = Code("scored_too_long_before", "scored {days} days before {day}: expired")
CORPUS_EXPIRES = Code("corpus_expires", "the corpus expires on {day}")
CORPUS_EXPIRED = Code("corpus_expired", "the corpus expires on {day}: expired")
RESEARCH_ONLY_REFUSED = Code(
    "research_only_refused",
    "the corpus is for research alone ({licence}): these criteria refuse it",
)
NOT_RESEARCH_ONLY = Code("not_research_only", "the corpus is not for research alone")
SIMULATOR_CHANGED = Code(
    "simulator_changed",
    "{name} has changed since it was scored ({keys}): the scorecard has expired",
)
NONE_LEFT_OUT = Code("none_left_out", "{side}: none of {total} sessions left out")
SESSIONS_LEFT_OUT = Code(
    "sessions_left_out", "{side}: {count} of {total} sessions left out ({causes}), {share:.1%}"
)
SESSIONS_UNREAD = Code(
    "sessions_unread",
    "{side}: {count} of {total} sessions without word lists ({languages}), {share:.1%}",
)
SESSIONS_UNRATED = Code(
    "sessions_unrated",
    "{side}: {count} of {total} compared sessions without an outcome, {share:.1%}",
)
SESSIONS_SILENT = Code(
    "sessions_silent",
    "{side}: {count} of {total} compared sessions in which the agent says nothing, {share:.1%}",
)
SESSIONS_ABSENT = Code(
    "sessions_absent",
    "{side}: {count} of {total} sessions are not there (a run lacks tasks that others did), "
    "{share:.1%}",
)
MOST_ALLOWED = Code("most_allowed", "{limit:.0%} at most")
USER_ERRORS_WITHIN = Code(
    "user_errors_within", "user errors in {share:.1%} of {sessions} reviewed sessions"
)
USER_ERRORS_ABOVE = Code(
    "user_errors_above",
    "user errors in {share:.1%} of {sessions} reviewed sessions, {limit:.0%} are allowed",
)
USER_ERRORS_ARE = Code("user_errors_are", "most frequent: {errors}")
TWO_SAMPLE_UNPAIRED = Code(
    "two_sample_unpaired", "the two-sample test decides in paired designs only"
)
TWO_SAMPLE_FEW = Code(
    "two_sample_few",
    "{title} {figures} from {sessions} {unit} a side; {least} are required",
    more=(*_BOUNDS, "limit"),
)
TWO_SAMPLE_PAIRS = Code(
    "two_sample_pairs",
    "{title} {figures} below chance: sessions of the two sides come in pairs, as copies do",
    more=(*_BOUNDS, "limit"),
)
TOLD_APART = Code("told_apart", "a classifier tells the sides apart (AUC {auc:.2f}, {classifier})")
BATCHES_REPEAT = Code(
    "batches_repeat",
    "{share:.1%} of people's sessions repeat, word for word, another of the same task: batches "
    "that are copies of one another",
    "data",
    "batches of people that are not copies of one another",
)
SHOWN_BY = Code("shown_by", "in sessions {ids}")
WITH_MISSING_OUTCOMES = Code(
    "with_missing_outcomes",
    "{figures} where every session without an outcome ended as badly as it could",
    more=("low", "high"),
)
COPIES_WITHIN = Code(
    "copies_within",
    "{copies} of {sessions} sessions ({share:.1%}) are {what}, {people:.1%} among people",
)
COPIES_ABOVE = Code(
    "copies_above",
    "{copies} of {sessions} sessions ({share:.1%}) are {what}, {people:.1%} among people: it "
    "replays {whom}",
)
_MARK = (
    "{feature}: {hits} of {sessions} simulator sessions ({share:.0%}) against {human_hits} of "
    "{human_sessions} of people (p = {p_value:.2g})"
)
MARK_AS_PEOPLE = Code("mark_as_people", _MARK)
MARK_NOT_OF_PEOPLE = Code("mark_not_of_people", _MARK + ": a mark that people do not make")
GAMING_FOUND = Code(
    "gaming_found",
    "gaming suspected: the rates match, the places do not (context lift, overdispersion); read "
    "the sessions",
)
COLLAPSE_FOUND = Code(
    "collapse_found",
    "collapsed: every conversation is near the mean; its means may agree, but it stands for one "
    "average person, not for people",
)
MIX_DECIDES_NOTHING = Code(
    "mix_decides_nothing",
    "the two sides did different tasks, which alone may make this distance ({checks}): compare on "
    "the same tasks before it decides FAIL",
)
_VERSIONS = (
    "{title} against the {word}: {difference:+.1f} (SE {se:.1f}), distance of the versions "
    "{distance:.1f} (at most {critical:.1f} for unchanged): "
)
VERSION_UNCHANGED = Code("version_unchanged", _VERSIONS + "unchanged within {margin:g}")
VERSION_BETTER = Code("version_better", _VERSIONS + "at least as good, within {margin:g}")
VERSION_REGRESSED = Code("version_regressed", _VERSIONS + "REGRESSED by more than {margin:g}")
VERSION_OPEN = Code("version_open", _VERSIONS + "a drop of {margin:g} can't be ruled out")

# What is added to the finding of a check.
MEAN_OF_SOME = Code("mean_of_some", "a mean of {have} of {all} components")
FOLLOWS_SCRIPT = Code(
    "follows_script", "follows the task script, so it never decides FAIL in this design"
)
DECIDES_NOTHING = Code("decides_nothing", "decides nothing on this evidence")
MOST_TELLING = Code("most_telling", "most telling: {features}")
NO_TASK_IN_BEHAVIOUR = Code("no_task_in_behaviour", "behaviour does not follow the task")
NO_TASK_IN_WORDS = Code("no_task_in_words", "what is said does not follow the task")
NO_ANSWERS_IN_REPLIES = Code("no_answers_in_replies", "replies do not answer the agent")
READS_ALOUD = Code("reads_aloud", "it reads its instruction, or people's sessions, aloud")
HISTORY_TOO_RARE = Code(
    "history_too_rare",
    "{title} is too rare in {have:,} cases: a perfect simulator would need {cases:,} to reach "
    "{limit:g} (lower bound) in 99 % of the logs, so it is not asked",
)
LOG_MOVES_AS_MUCH = Code(
    "log_moves_as_much",
    "another period, or other clusters, of the real log differ by as much ({reach:.3g})",
)
NO_WORSE_THAN_PERIODS = Code(
    "no_worse_than_periods",
    "no worse than another period of your own desk in all {asked} comparisons with the log's own "
    "earlier and later cases",
)
WORSE_THAN_PERIODS = Code(
    "worse_than_periods",
    "worse than another period of your own desk in {worse} of {asked} comparisons: {parts}",
)
LOG_COPIES_WITHIN = Code(
    "log_copies_within", "{share:.1%} of the cases {what}, {real:.1%} among real cases"
)
LOG_COPIES_ABOVE = Code(
    "log_copies_above", "{share:.1%} of the cases {what}, {real:.1%} among real cases: {means}"
)
LOG_COPIES_UNSURE = Code(
    "log_copies_unsure",
    "{share:.1%} of the cases {what}, {real:.1%} among real cases: more than chance gives",
)
STEPS_OTHERWISE = Code("steps_otherwise", "steps follow each other otherwise")
NO_MEMORY = Code("no_memory", "no memory of the case")
SMALLEST_MARGIN = Code("smallest_margin", "smallest margin of this design {margin:.1f}")

# What a verdict says as a whole.
TIGHTEST = Code("tightest", "tightest: {cause}")
OF_SIMULATOR = Code("of_simulator", "{name}: {cause}")
COUNTS_AS = Code("counts_as", 'INCONCLUSIVE counts as {counts} here: on_inconclusive = "{counts}"')
REFERENCE_IS_OUTPUT = Code(
    "reference_is_output", "the reference is not human: it is simulator output"
)
PERFECT_WOULD_SCORE = Code(
    "perfect_would_score", "a perfect simulator would score about {ceiling:.1f} with these data"
)
HUMAN_BATCHES_SCORE = Code(
    "human_batches_score",
    "human batches score {figures} points {word} against each other than a run does against a "
    "batch (for context only: with fewer data the difference is smaller)",
    more=_BOUNDS,
)
TASK_MIX_IN_DISTANCE = Code(
    "task_mix_in_distance",
    "the tasks of the two sides differ: part of any distance is the task mix, not the user",
)
LOG_OBSERVABLE = Code(
    "log_observable",
    "scope log-observable: it speaks of what a log shows, not of wording or feelings",
)
SEVERAL_CANDIDATES = Code(
    "several_candidates",
    "{candidates} candidates: where any that passes is accepted, set family_size = {candidates}, "
    "or chance alone passes some",
)
VERSION_DIFFERS = Code("version_differs", "{word} differs: {difference}")
VERSION_AGE_UNKNOWN = Code(
    "version_age_unknown", "age of the {word} unknown: no run record next to {file}"
)
VERSION_SCORED = Code("version_scored", "the {word} was scored on {day}")
VERSION_SCORED_BEFORE = Code(
    "version_scored_before", "the {word} was scored on {day}, {days} days before {as_of}"
)
VERSION_SAME = Code(
    "version_same", "{word}: the very same sessions as the new version: nothing was tested"
)
VERSION_MARGINS = Code(
    "version_margins", "{word}: smallest margins that this design can certify: {margins}"
)
NO_ANCHOR = Code(
    "no_anchor",
    "no anchor: small permitted losses add up over versions; keep the first accepted scorecard "
    "and give it as --anchor",
)

# Until when a verdict counts.
ENDS_BY_AGE = Code("ends_by_age", "the criteria let a scorecard be {days} days old")
ENDS_WITH_CORPUS = Code("ends_with_corpus", "the human corpus expires")
ENDS_BY_DEFAULT = Code(
    "ends_by_default", "{days} days after the scoring, since the criteria name no age"
)
ENDS_WITH_CHANGE = Code("ends_with_change", "the simulator has changed since it was scored: {keys}")
ENDS_WITH_PROFILE = Code("ends_with_profile", "scored by {then}; this usi has {now}")
ENDS_WITH_VERSION = Code("ends_with_version", "decided by usi {then}; this is usi {now}")
ENDS_WITH_CORPUS_CONTENT = Code(
    "ends_with_corpus_content", "the corpus {corpus} has changed since the scoring"
)

# What keeps a decision from being checked.
CARD_WITHOUT_FILE = Code(
    "card_without_file", "the scorecard was given without a file, so without its per-task sums"
)
SUMS_ABSENT = Code("sums_absent", "the per-task sums {file} are not beside the scorecard")
SUMS_NOT_NAMED = Code("sums_not_named", "the scorecard does not say which per-task sums are its")
SUMS_OF_LOGS = Code(
    "sums_of_logs",
    "numbers of this profile can't be computed again from per-task sums; digest and hash hold",
)
BASELINE_NOT_FOUND = Code(
    "baseline_not_found", "{word} {file} is not there, so its checks are taken as the verdict says"
)
DECIDED_ELSEWHERE = Code(
    "decided_elsewhere", "decided by usi {version}; this version can't decide the same again"
)
CORPUS_WITHOUT_MANIFEST = Code(
    "corpus_without_manifest",
    "the people are files without a manifest, by whose hashes they could be checked",
    "data",
    "usi corpus add FILES --name NAME",
)
NUMBERS_VERIFIED = Code("numbers_verified", "the numbers follow from the per-task sums")


# Warnings of a scorecard: about the whole card.
REMARK = Code("remark", "{text}")
SYNTHETIC = Code(
    "synthetic", "synthetic: made by a generator with known rates; no people took part"
)
REFERENCE_NOT_HUMAN = Code(
    "reference_not_human",
    "the reference is simulator output, not people: the score says how alike two simulators are",
)
CARD_EDITED = Code(
    "card_edited", "the scorecard was changed after scoring and is trusted by --trust-edited"
)
RESEARCH_ONLY = Code(
    "research_only", "the corpus is for research alone: so is this scorecard; {terms}"
)
NO_REDISTRIBUTION = Code(
    "no_redistribution",
    "texts of the corpus may not be passed on: reports carry none of them unless asked for, and "
    "aggregates carry the same terms; {terms}",
)
TASK_SAMPLE = Code(
    "task_sample",
    "people did a sample of the tasks, {sample}: every score is of that sample, each of its tasks "
    "counting alike",
)
DEFAULT_PROFILE = Code(
    "default_profile", "no profile named, and {preferred} is not installed: {used} used"
)
REFERENCE_AGGREGATED = Code(
    "aggregate",
    "the reference is an aggregate: numbers are those of its corpus, but two-sample tests, "
    "tracking, copies, distances, signs of gaming and of collapse, and people among themselves are "
    "not assessed",
)
MIXED_TERMS = Code(
    "mixed_terms",
    "some indices have six terms (with the survey) and some have five: USI(5) and USI(6) are not "
    "comparable",
)
ENGLISH_ONLY = Code(
    "english_only",
    "{side}: {sessions:,} sessions are in another language than English ({languages}); {profile} "
    "knows English words alone, so their rates mean nothing. The profile robust does not score "
    "them by English words",
)

TRUNCATED_REPLIES = Code(
    "truncated_replies",
    "{side}: {truncated:,} of {replies:,} replies ran out of tokens (limit {limit:.0%}): the "
    "limit, not the user, ends them. Raise max_tokens and run again",
)

# Warnings of a scorecard: about one simulator.
SEVERAL_PER_TASK = Code(
    "several_sessions_per_task",
    "several sessions share a task and a run; each counts in the means",
)
TASK_MIX = Code(
    "task_mix",
    "tasks differ or are unknown on the two sides: part of every gap is the task mix, not the user",
)
SCRIPT = Code(
    "script", "clarification and reaction follow the task script and never decide FAIL here"
)
FEW_CLUSTERS = Code(
    "few_clusters",
    "{clusters} ({unit}) on the smaller side; under {least} every verdict is INCONCLUSIVE",
)
LANGUAGE = Code(
    "language",
    "no word lists for {languages}: features of words are not assessed there, and do not count "
    "as 0",
)
LANGUAGES_DIFFER = Code(
    "languages_differ",
    "people write {people}, the simulator {simulator}: words of different languages are compared",
)
ONE_BATCH_CEILING = Code(
    "one_batch_ceiling",
    "one human batch: the ceiling takes sessions as independent and assumes no batch effect",
)
PARTICIPANTS_UNKNOWN = Code(
    "participants_unknown",
    "{sessions} of {all} sessions do not say who took part: bounds take them as different people, "
    "and are too narrow where one did several",
)
PARTIAL_OVERLAP = Code(
    "partial_overlap",
    "{human} units of the reference and {simulator} of the simulator have no counterpart and are "
    "not compared",
)
POOL_KNOWS_FEW = Code("pool_knows_few", "the pool {pool} knows {known} of {tasks} tasks")
DIFFICULTY_ELSEWHERE = Code("difficulty", "{cause}: bins come from {source}")
NO_OUTCOME = Code("no_outcome", "{sessions} simulator sessions have no outcome")
LABELS_ONE_SIDE = Code(
    "labels_one_side",
    "outcome labels on one side alone: its {refusals} correct refusals are graded by their "
    "rewards, as the other side's are",
)
IDENTICAL_SIDES = Code(
    "identical_sides",
    "both sides have the same values in every task: is the simulator's file the reference itself?",
)
SURVEY_UNANSWERED = Code(
    "survey_unanswered",
    "{share:.1%} of the survey items are answered; under {least:.0%} the survey key is "
    "INCONCLUSIVE",
)
BELOW_FLOOR = Code("below_floor", "{component} {score:.1f}: below {users}")
BLIND_COMPONENT = Code(
    "blind_component",
    "{component}: {users} would score as well as people do at this size (ceiling {ceiling:.1f}), "
    "so this component alone says little",
)
AUC_BELOW_CHANCE = Code(
    "auc_below_chance",
    "the two-sample AUC is {auc:.2f}, below that of chance: sessions of the two sides come in "
    "pairs, as copies do",
)
COLLAPSED = Code(
    "collapsed",
    "collapsed: sessions spread {spread:.2f} times as much as people's; its means may agree, but "
    "it stands for one average person, not for people",
)
SPREAD = Code(
    "spread",
    "sessions spread {spread:.2f} times as much as people's (usual: {least:g} to {most:g})",
)
GAMING_SUSPECTED = Code(
    "gaming_suspected",
    "words stand where people would not put them (context lift and overdispersion both below the "
    "human 99 % band): at best INCONCLUSIVE",
)
WEAK_ALARM = Code(
    "weak_alarm",
    "at this size a mark in {rate:.0%} of the simulator's sessions would raise the alarm in "
    "{power:.0%} of studies",
)

# Warnings of a scorecard: operational logs.
SCOPE = Code(
    "scope",
    "scope log-observable: politeness, wording, feelings and what was said leave no trace in a "
    "log; never to be ranked with scores of conversations, and tier B at most",
)
CASE_MIX = Code(
    "case_mix",
    "cases weighted to the real log's mix of {columns}: {scores}; worth {effective:,.0f} of "
    "{cases:,} cases",
)
CASE_MIX_COVERED = Code(
    "case_mix_covered",
    "{share:.0%} of the real cases are of a kind that the simulated log does not have",
)
CASE_MIX_UNKNOWN = Code(
    "case_mix_unknown",
    "not standardised: priority and category are not on both sides, or it was not asked for; part "
    "of every gap is the mix of cases",
)
OUTCOME_RULE = Code(
    "outcome_rule",
    "a log does not say whether its cases were in time: in time is a cycle up to the real log's "
    "third quartile of the same priority and impact, on both sides",
)
REAL_AGAINST_REAL = Code("real_against_real", "real against real by {kind} ({how}): {scores}")
SAME_CASES = Code(
    "same_cases",
    "{simulator}: {both:,} of its {cases:,} case ids are those of real cases: is it a part of the "
    "real log, or an edit of it? Sides are taken as independent",
)
FEW_CLUSTERS_WORTH = Code(
    "few_clusters_worth",
    "{clusters} clusters ({unit}) of unequal size are worth {worth} of equal size; under {least} "
    "every verdict is INCONCLUSIVE",
)
CLUSTER_CHOSEN = Code(
    "cluster_chosen",
    "the weeks of these cases are worth {weeks:.1f} clusters of equal size, {least} are needed: "
    "whole {column}s are drawn again in their place, worth {worth:.0f}{note}; --cluster names "
    "another column",
)
CUT_BY_CLOSING = Code(
    "cut_by_closing",
    "{side} looks like an extract by closing date (ends lie much closer together than starts): "
    "long cases are over-represented in its beginning, so splits by start date are length-biased; "
    "extract both sides by the same rule",
)
CUT_BY_TWO_RULES = Code(
    "cut_by_two_rules",
    "the logs look cut by different rules ({rules}; opening: starts lie closer together than "
    "ends): cut both by the same one",
)
SHORT_WINDOW = Code(
    "short_window",
    "the real log's window ({days:.1f} days) is shorter than {least:g} times its median cycle "
    "({cycle:.1f} days): cases that take long are hardly in it",
)
CASES_OPEN = Code(
    "cases_open",
    "{side}: {open:,} of {cases:,} cases are open at its end; --horizon HOURS looks at equally "
    "much of every case on both sides",
)

# Why a comparison is paired, or not.
UNPAIRED_ASKED = Code("unpaired_asked", "unpaired as asked for (--design unpaired)")
UNPAIRED_NONE = Code("unpaired_none", "unpaired: no {unit} occurs on both sides{hint}")
UNPAIRED_FEW = Code(
    "unpaired_few",
    "unpaired: only {common} of {all} {units} of the reference occur on both sides",
)
PAIRED_ON_TASK = Code(
    "paired_on_task",
    "paired on the task: {common} of {all} {units} of the reference occur on both sides",
)
PAIRED_ON_GROUP = Code(
    "paired_on_group",
    "paired on the group ({column}): {common} of {all} {units} of the reference occur on both "
    "sides",
)
UNPAIRED_LOG = Code("unpaired_log", "unpaired: a log has other cases than another")
NOBODY_COMPARED = Code("nobody_compared", "the people alone, compared with nobody")


CODES: dict[str, Code] = {
    value.name: value for value in list(globals().values()) if isinstance(value, Code)
}
"""Every code by its name."""
