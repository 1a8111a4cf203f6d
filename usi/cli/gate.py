"""`usi gate`: PASS, FAIL or INCONCLUSIVE on a scorecard.

From the options of a gate to its verdict, and from a verdict to files, stdout and exit code.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from usi.cli.flags import flags
from usi.errors import UsageError
from usi.options import Delivery, GateOptions

if TYPE_CHECKING:
    from usi.decisions.criteria import Criteria
    from usi.decisions.verdict import Check, Verdict
    from usi.reasons import Reason
    from usi.scoring.scorecard import Scorecard


FORMS = (".json", ".md", ".junit.xml")
VERDICT_FORMS = (".verdict.json", ".verdict.md", ".junit.xml")
"""What ``usi score --gate`` takes, where ``.json`` and ``.md`` are the scorecard's."""


def criteria_of(criteria: str | None, tier: str | None, family_size: int | None = None) -> Criteria:
    """Criteria from the options, else from ``[gate]`` of the workspace's settings.

    Raises
    ------
    UsageError
        Where both options are given, or none and the settings hold no criteria.
    """
    return criteria_and_folder(criteria, tier, family_size)[0]


def criteria_and_folder(
    criteria: str | None, tier: str | None, family_size: int | None = None
) -> tuple[Criteria, Path]:
    """Criteria, and the folder that their paths start from; see `criteria_of`."""
    from usi.decisions.criteria import read_criteria, resolve
    from usi.decisions.criteria import tier as tier_named

    folder = Path()
    if criteria is not None and tier is not None:
        raise UsageError(
            '--criteria and --tier do not go together; write tier = "..." in the criteria file'
        )
    if tier is not None:
        found = tier_named(tier)
    elif criteria is not None:
        found, folder = read_criteria(criteria), Path(criteria).parent
    else:
        from usi.cli.settings import find_workspace

        workspace = find_workspace()
        if not workspace.settings.gate:
            raise UsageError(
                "no criteria: give --tier A, B or C, or --criteria gate.toml, or write a table "
                "[gate] in usi.toml"
            )
        file = workspace.file.name if workspace.file else None
        found = resolve(workspace.settings.gate, file=f"{file} [gate]")
        folder = workspace.root
    if family_size is not None:
        found = found.model_copy(update={"family_size": family_size})
    return in_ci(found), folder


def in_ci(criteria: Criteria) -> Criteria:
    """Criteria that ask for verified numbers where this is continuous integration.

    Runners set the environment variable ``CI``; what the criteria say themselves stays.
    """
    if criteria.require_verified is None and os.environ.get("CI", "") not in ("", "0", "false"):
        return criteria.model_copy(update={"require_verified": True})
    return criteria


@dataclass(frozen=True)
class Decision:
    """What ``usi score --gate`` does after scoring; without ``--gate`` nothing.

    Attributes
    ----------
    criteria
        What is asked, or ``None``.
    scorecards, verdicts
        Outputs of the scoring and of the gate.
    force
        Whether files that usi did not write may be overwritten.
    """

    criteria: Criteria | None
    scorecards: tuple[Path, ...]
    verdicts: tuple[Path, ...]
    force: bool

    @property
    def subgroups(self) -> tuple[str, ...]:
        """Columns whose values the criteria have minimums for."""
        return () if self.criteria is None else tuple(g.by for g in self.criteria.subgroup)

    def verdict(
        self,
        card: Scorecard,
        scored: str,
        as_of: str | None = None,
        doubts: Sequence[Reason] = (),
    ) -> Verdict | None:
        """Gate the scorecard that was made just now, on the day `scored`."""
        if self.criteria is None:
            return None
        return gate_fresh(card, self.criteria, scored, as_of, doubts)

    def show_card(self, show: str) -> str:
        """Keep the scorecard off a stdout that holds the verdict as JSON."""
        from usi.cli.console import printed

        if self.criteria is not None and printed(show) == "json":
            return "none"
        return show

    def deliver(self, verdict: Verdict | None, *, show: str, quiet: bool, exit_zero: bool) -> None:
        """Write and print the verdict, and end with its exit code."""
        if verdict is not None:
            deliver(
                verdict,
                outputs=self.verdicts,
                show=show,
                force=self.force,
                quiet=quiet,
                exit_zero=exit_zero,
            )


def after_scoring(gate: str | None, outputs: Sequence[Path], *, force: bool) -> Decision:
    """Read ``--gate`` and sort the outputs, before any work.

    Raises
    ------
    UsageError
        Criteria that don't exist, or an output of a verdict without ``--gate``.
    """
    own = tuple(path for path in outputs if path.name.lower().endswith(VERDICT_FORMS))
    if gate is None:
        if own:
            raise UsageError(f"-o {own[0]}: a verdict needs criteria: --gate A, B, C or a file")
        return Decision(None, tuple(outputs), (), force)
    from usi.decisions.criteria import load_criteria
    from usi.report import files

    rules = in_ci(load_criteria(gate))
    if rules.regression.asked:
        raise UsageError(
            f"{gate} names a version that was accepted before, and a comparison needs the "
            "scorecard as a file: score first, then usi gate"
        )
    inputs = [Path(gate)] if Path(gate).is_file() else []
    files.claim(own, known=FORMS, force=force, inputs=inputs)
    return Decision(rules, tuple(path for path in outputs if path not in own), own, force)


def gate_fresh(
    card: Scorecard,
    criteria: Criteria,
    scored: str,
    as_of: str | None = None,
    doubts: Sequence[Reason] = (),
) -> Verdict:
    """Gate a scorecard that was made in this very run.

    Its age is nothing, so `max_age_days` is not asked; but the verdict names it with the other
    criteria, since it says when an admission ends.

    Parameters
    ----------
    scored
        Day of scoring, from the run record: ``YYYY-MM-DD``, or a moment that begins so.
    as_of
        Day of the decision; one before the scoring is refused.
    doubts
        What could not be checked.
    """
    from usi.decisions.expiry import end_of
    from usi.decisions.rules import rules_of

    own = rules_of(card).criteria(card, criteria)
    expires, ends = end_of(own.max_age_days, scored, card.human.expires)
    whole = {
        "criteria": own.model_dump(mode="json"),
        "criteria_label": own.label,
        "criteria_fingerprint": own.fingerprint,
        "expires": expires,
        "ends": ends,
    }
    return gate_now(card, criteria, as_of, scored, doubts).model_copy(update=whole)


def gate_now(
    card: Scorecard,
    criteria: Criteria,
    as_of: str | None = None,
    scored: str | None = None,
    doubts: Sequence[Reason] = (),
) -> Verdict:
    """Gate a scorecard whatever its age: `max_age_days` is neither asked nor named."""
    from usi.decisions.decide import gate_scorecard

    ageless = criteria.model_copy(update={"max_age_days": None})
    return gate_scorecard(card, ageless, as_of, scored_on=scored, doubts=doubts)


def gate_file(scorecard: str, own: GateOptions, *, outputs: Sequence[Path], force: bool) -> Verdict:
    """Read a scorecard file and decide; outputs are checked before anything is read."""
    from usi.decisions.decide import gate_scorecard
    from usi.decisions.evidence import read_evidence
    from usi.decisions.expiry import scored_on
    from usi.decisions.regression import named_versions, version_checks
    from usi.report import files

    given = [p for p in (own.baseline, own.anchor) if p is not None]
    inputs = [Path(p) for p in (scorecard, own.criteria) if p not in (None, "-")] + given
    files.claim(outputs, known=FORMS, force=force, inputs=inputs)
    rules, folder = criteria_and_folder(own.criteria, own.tier, own.family_size)
    rules, versions = named_versions(
        rules,
        folder=folder,
        baseline=own.baseline,
        anchor=own.anchor,
        margin=own.margin,
        component_margin=own.component_margin,
    )
    if versions and scorecard == "-":
        raise UsageError(
            "--baseline and --anchor need the scorecard as a file, with its sums beside"
        )
    wanted = None if own.simulator is None else (own.simulator,)
    found = read_evidence(scorecard, simulators=wanted, trust_edited=own.trust_edited)
    card = found.card
    day = None if scorecard == "-" else scored_on(scorecard)
    more = _identity(card, own.simulator)
    notes: list[Reason] = []
    if versions:
        checks, notes = version_checks(
            scorecard,
            card,
            own.simulator,
            versions,
            rules.regression,
            as_of=own.as_of,
            trust_edited=own.trust_edited,
        )
        more += checks
    return gate_scorecard(
        card,
        rules,
        own.as_of,
        scored_on=day,
        simulator=own.simulator,
        more=more,
        notes=notes,
        doubts=found.doubts,
    )


def _identity(card: Scorecard, simulator: str | None) -> list[Check]:
    """Checks of candidates of this workspace that have changed since they were scored."""
    from usi.decisions.checks import check_identity
    from usi.scoring.identity import changed

    found = changed(card)
    return check_identity({k: v for k, v in found.items() if simulator in (None, k)})


def deliver(
    verdict: Verdict,
    *,
    outputs: Sequence[Path],
    show: str,
    force: bool,
    quiet: bool,
    exit_zero: bool,
) -> None:
    """Write the files, print, annotate where this runs on GitHub, and end with the exit code.

    Raises
    ------
    SystemExit
        With the verdict's exit code where it is not 0.
    """
    from usi.cli import console as say
    from usi.report import files, github, junit, verdict_markdown

    forms = files.claim(outputs, known=FORMS, force=force)
    makers: dict[str, Callable[[], str]] = {
        ".json": verdict.to_json,
        ".md": lambda: verdict_markdown.render(verdict),
        ".junit.xml": lambda: junit.render(verdict),
    }
    files.write_all({path: files.text(makers[form]()) for path, form in forms.items()})
    match say.printed(show):
        case "table":
            say.out(verdict.to_text())
        case "json":
            say.out(verdict.to_json())
            say.note(verdict.to_text().rstrip("\n"), quiet=quiet)
        case _:
            pass
    # On stderr, where the runner reads them too, so that stdout stays JSON.
    sys.stderr.write(github.publish(verdict, os.environ))
    if verdict.exit_code and not exit_zero:
        raise SystemExit(verdict.exit_code)
    if verdict.exit_code:
        say.note(f"--exit-zero: exit code {verdict.exit_code} is not used", quiet=quiet)


@flags
def command(
    scorecard: Annotated[
        str,
        typer.Argument(
            metavar="SCORECARD",
            help="From usi score -o card.json; - reads stdin.",
            show_default=False,
        ),
    ],
    own: GateOptions,
    delivery: Delivery,
) -> None:
    """Block or admit a simulator by its bounds.

    Exit codes: 0 PASS, 1 FAIL, 3 INCONCLUSIVE (not enough evidence; the verdict says what would
    settle it), 2 bad input or usage.

    Example: usi gate card.json --tier B -o verdict.json -o verdict.junit.xml -o verdict.md
    """

    verdict = gate_file(scorecard, own, outputs=delivery.output, force=delivery.force)
    deliver(
        verdict,
        outputs=delivery.output,
        show=delivery.print,
        force=delivery.force,
        quiet=delivery.quiet,
        exit_zero=delivery.exit_zero,
    )
