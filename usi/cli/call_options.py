"""Options of whatever calls models: budget, pace, retries, cache; one piece for all its verbs."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

_PANEL = "Calls and money"


def _option(*flags: str, words: str, metavar: str | None = None, least: float | None = None) -> Any:
    return typer.Option(
        *flags, metavar=metavar, help=words, min=least, show_default=False, rich_help_panel=_PANEL
    )


_OPTIONS: dict[str, tuple[Any, Any]] = {
    "budget": (
        Annotated[
            float | None,
            _option("--budget", metavar="USD", least=0.0,
                    words="Stop in good order before more is spent; 0 makes no call."),
        ],
        None,
    ),
    "budget_tokens": (
        Annotated[
            int | None,
            _option("--budget-tokens", metavar="N", least=0, words="The same in tokens."),
        ],
        None,
    ),
    "per_minute": (
        Annotated[
            float | None,
            _option("--per-minute", metavar="N", least=0.01, words="Calls a minute of each model."),
        ],
        None,
    ),
    "retries": (
        Annotated[
            int,
            typer.Option("--retries", min=0, help="After a passing fault.", rich_help_panel=_PANEL),
        ],
        4,
    ),
    "cache": (
        Annotated[
            Path | None,
            _option("--cache", metavar="FILE",
                    words="Answers by content (sqlite); default: .answers.sqlite in the output "
                    "folder."),
        ],
        None,
    ),
    "replay": (
        Annotated[
            bool, _option("--replay", words="Answer from the cache alone: no call leaves.")
        ],
        False,
    ),
}  # fmt: skip
"""Field of `usi.cli.simulating.CallOptions` -> its option and its default."""


def with_calls(*, without: tuple[str, ...] = ()) -> Callable[[Callable[..., None]], Any]:
    """A verb whose parameter ``calls`` (a `CallOptions`) becomes these options.

    Parameters
    ----------
    without
        Fields that the verb does not offer; they keep their defaults.
    """
    kept = {name: option for name, option in _OPTIONS.items() if name not in without}

    def decorate(verb: Callable[..., None]) -> Any:
        shape = inspect.signature(verb, eval_str=True)
        parameters: list[inspect.Parameter] = []
        for own in shape.parameters.values():
            if own.name != "calls":
                parameters.append(own)
                continue
            parameters += [
                inspect.Parameter(name, own.kind, default=default, annotation=option)
                for name, (option, default) in kept.items()
            ]

        @functools.wraps(verb)
        def wrapper(**given: Any) -> None:
            from usi.cli.simulating import CallOptions

            verb(calls=CallOptions(**{name: given.pop(name) for name in kept}), **given)

        wrapper.__signature__ = shape.replace(parameters=parameters)  # type: ignore[attr-defined]
        wrapper.__annotations__ = {one.name: one.annotation for one in parameters}
        return wrapper

    return decorate
