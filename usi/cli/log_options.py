"""Options of ``usi score`` that only operational logs know."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from usi.errors import UsageError

_PANEL = "Operational logs"


def _option(*flags: str, words: str, metavar: str | None = None) -> Any:
    return typer.Option(
        *flags, metavar=metavar, help=words, show_default=False, rich_help_panel=_PANEL
    )


Preset = Annotated[
    str | None,
    _option("--preset", metavar="NAME",
            words="Both sides are logs of this system: servicenow, uci-incident, bpic2013."),
]  # fmt: skip
Config = Annotated[
    str | None,
    _option("--log-config", metavar="FILE.toml",
            words="Both sides are logs read by this file (usi logs suggest drafts one)."),
]  # fmt: skip
Zone = Annotated[
    str | None, _option("--timezone", metavar="ZONE", words="Zone of times that carry none.")
]
NoClasses = Annotated[
    bool,
    _option("--no-classes", words="Logs without a class map: waiting, outcome not assessed."),
]
Horizon = Annotated[
    float | None,
    _option("--horizon", metavar="HOURS",
            words="Look at so many hours of every case, the same on both sides."),
]  # fmt: skip
Standardise = Annotated[
    bool,
    _option("--standardise/--no-standardise",
            words="Weight simulated cases to the real mix of priority and category (default)."),
]  # fmt: skip


def log_choices(
    *,
    preset: str | None,
    config: str | None,
    timezone: str | None,
    no_classes: bool,
    horizon: float | None,
    standardise: bool,
    profile: str | None,
) -> dict[str, Any] | None:
    """What the command line says of logs; ``None`` where it says that there are none.

    Raises
    ------
    UsageError
        Where a preset and a file are named, or another profile than that of logs.
    """
    from usi.scoring.profiles import profile_called

    asked = (preset, config, timezone, horizon)
    named = None if profile is None else profile_called(profile)
    is_log = named is not None and named.subject == "logs"
    if not (is_log or no_classes or not standardise or any(v is not None for v in asked)):
        return None
    if preset is not None and config is not None:
        raise UsageError("--preset and --log-config are two configurations: name one of them")
    if profile is not None and not is_log:
        raise UsageError(f"options of logs were given, and the profile is {profile}")
    if preset is not None:
        from usi.errors import unknown_name
        from usi.logs import preset_names

        if preset not in preset_names():
            raise unknown_name("log preset", preset, preset_names())
    return {
        "preset": preset,
        "log_config": config,
        "timezone": timezone,
        "no_classes": no_classes,
        "horizon": horizon,
        "standardise": standardise,
    }
