"""The scoring profiles: named, versioned definitions of the score.

A profile lives in its own module below `usi.scoring`, which holds one constant ``PROFILE`` of the
class `Profile`. It is imported when it is asked for, so a profile that is not installed costs
nothing, and one more profile is one more line in `_MODULES`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal, Protocol

from usi.errors import unknown_name

if TYPE_CHECKING:
    from usi.extraction.table import SessionTable
    from usi.options import ScoreOptions
    from usi.scoring.context import ScoreContext, Surveys
    from usi.scoring.parts import Studies
    from usi.scoring.scorecard import Scorecard

PREFERRED_PROFILE = "robust"
"""The profile taken where none is named and it is installed."""

FALLBACK_PROFILE = "tau-usi"

_MODULES: dict[str, str] = {
    "tau-usi": "usi.scoring.published.profile",
    "robust": "usi.scoring.robust",
}
_LOG_MODULES: dict[str, str] = {"log": "usi.logs.profile"}
"""Profiles of operational logs; never taken by default, nor listed with those of conversations."""


@dataclass(frozen=True, kw_only=True)
class Wording:
    """What the subject of a profile is called in verdicts, figures and reports.

    Attributes
    ----------
    kind
        Which of the longer texts of a report hold: ``"published"``, ``"robust"`` or ``"log"``.
    question
        Heading of a report.
    session, sessions
        The unit of the numbers, one and several.
    yardstick, no_people
        What simulators are compared with: where people made it, and where none did.
    among, among_figure
        How it is compared with itself: in a sentence, and in the legend of a figure (``None``
        there: "<yardstick>, batch against batch").
    titles
        Component -> its name, where that is not its key.
    without_text
        Why its scorecards never have examples of texts; empty where they may have some.
    """

    kind: str = "published"
    question: str = "Do these simulated users behave like people?"
    session: str = "session"
    sessions: str = "sessions"
    yardstick: str = "people"
    no_people: str = "the reference"
    among: str = "one batch against another"
    among_figure: str | None = None
    titles: Mapping[str, str] = field(default_factory=dict)
    without_text: str = ""

    def title(self, component: str) -> str:
        """Name of a component."""
        return self.titles.get(component, component)


class Studier(Protocol):
    """Session tables with keys -> every simulator compared with the reference."""

    def __call__(
        self,
        human: SessionTable,
        simulators: Mapping[str, SessionTable],
        *,
        surveys: Surveys | None,
        options: ScoreOptions,
    ) -> Studies:
        """Compare; the card and the per-task sums are made from what is returned."""


@dataclass(frozen=True)
class Profile:
    """A scoring definition.

    Attributes
    ----------
    name
        Stable name, also the name of its feature set in `usi.extraction.profile`.
    tag
        Name with version as it stands in signatures, such as ``"robust@2"``.
    index
        Name of its index, ``"USI"``, ``"USI-R"`` or ``"USI-log"``.
    description
        One line for ``usi doctor`` and the documentation.
    study
        The definition itself.
    subject
        Whether it scores conversations or event logs; the two never share a table.
    has_bounds
        Whether its scores have bounds, and sessions may be chosen (`RobustOptions`).
    wording
        What its subject is called.
    gate
        Module whose constant ``RULES`` (`usi.decisions.rules.GateRules`) is what a gate asks of
        it beside the keys of all profiles; ``None`` for those of conversations.
    """

    name: str
    tag: str
    index: str
    description: str
    study: Studier
    subject: Literal["conversations", "logs"] = "conversations"
    has_bounds: bool = False
    wording: Wording = field(default_factory=Wording)
    gate: str | None = None

    def score_tables(
        self,
        human: SessionTable,
        simulators: Mapping[str, SessionTable],
        *,
        surveys: Surveys | None,
        options: ScoreOptions,
        context: ScoreContext,
    ) -> Scorecard:
        """Score session tables with keys, without diagnosis.

        Parameters
        ----------
        human, simulators
            Session tables of this profile, simulators by label.
        surveys
            Label -> id -> answers; ``None`` for none.
        options, context
            See their classes.

        Raises
        ------
        NotScorable
            Where no honest score follows from the data.
        UsageError
            For a table of another profile, no simulator, or options that do not fit.
        """
        return self.study(human, simulators, surveys=surveys, options=options).card(context)


@cache
def _installed(name: str) -> bool:
    module = {**_MODULES, **_LOG_MODULES}.get(name)
    if module is None or find_spec(module) is None:
        return False
    return isinstance(getattr(import_module(module), "PROFILE", None), Profile)


def profile_names() -> tuple[str, ...]:
    """Names of the profiles of conversations that are installed."""
    return tuple(name for name in _MODULES if _installed(name))


def log_profile_names() -> tuple[str, ...]:
    """Names of the profiles of operational logs that are installed."""
    return tuple(name for name in _LOG_MODULES if _installed(name))


def default_profile() -> str:
    """Name of the profile taken where none is given."""
    return PREFERRED_PROFILE if _installed(PREFERRED_PROFILE) else FALLBACK_PROFILE


def get_profile(name: str | None = None) -> Profile:
    """The profile of that name (``None``: the default); a version may be named: ``robust@2``.

    Raises
    ------
    UsageError
        Where there is no such profile, with near matches.
    """
    wanted = default_profile() if name is None else name
    modules = {**_MODULES, **_LOG_MODULES}
    for known in (*profile_names(), *log_profile_names()):
        profile: Profile = import_module(modules[known]).PROFILE
        if wanted in (known, profile.tag):
            return profile
    raise unknown_name("profile", wanted, (*profile_names(), *log_profile_names()))


def profile_called(name: str) -> Profile | None:
    """The profile that a scorecard names, whatever its version: ``log@1``, or ``USI-log``.

    ``None`` where this usi does not have it: what is said of conversations holds then.
    """
    stem = name.partition("@")[0]
    modules = {**_MODULES, **_LOG_MODULES}
    for known in (stem,) if stem in modules else modules:  # by name no other module is loaded
        if _installed(known):
            profile: Profile = import_module(modules[known]).PROFILE
            if stem in (known, profile.index):
                return profile
    return None


def wording_of(name: str) -> Wording:
    """What the subject of the profile that a scorecard names is called."""
    profile = profile_called(name)
    return Wording() if profile is None else profile.wording
