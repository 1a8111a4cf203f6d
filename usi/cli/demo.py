"""``usi demo``: the whole road on a population whose truth is known."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from usi.cli.console import note, out, working
from usi.cli.flags import flags_of, only
from usi.options import Delivery, DemoOptions

if TYPE_CHECKING:
    from usi.cli.score import Request
    from usi.decisions.verdict import SimulatorVerdict, Verdict
    from usi.phantom import PhantomSpec
    from usi.scoring.scorecard import Scorecard


@flags_of("demo")
def command(
    own: DemoOptions,
    delivery: Annotated[Delivery, only("force", "quiet")],
) -> None:
    """Build a synthetic population, score and gate its simulators, write a report.

    The scorecard has the profile robust and a verdict at tier B for every simulator; the same
    simulators by the published index stand in published.json and published.md.

    Needs no network, no model and no data. Everything in it is SYNTHETIC: made by a seeded
    generator whose true rates are known; nothing in it is about people or any model.

    \b
    Examples:
      usi demo
      usi demo -o elsewhere --seed 11
    """  # fmt: skip
    import tempfile
    from dataclasses import replace

    from usi.cli.score import Request, scored, write
    from usi.cli.settings import find_workspace
    from usi.decisions.criteria import tier
    from usi.decisions.decide import gate_scorecard
    from usi.phantom import DEMO_SIMULATORS, build_phantom
    from usi.report import card_text

    workspace = find_workspace()
    place = own.output or workspace.root / "reports" / "demo"
    outputs = tuple(place / f"scorecard.{form}" for form in ("json", "md", "html"))
    published = tuple(place / f"published.{form}" for form in ("json", "md"))
    verdicts = tuple(place / f"verdict.{form}" for form in ("json", "md"))
    with tempfile.TemporaryDirectory(prefix="usi-demo-") as made:
        with working("drawing a synthetic population ...", quiet=delivery.quiet):
            phantom = build_phantom(made, seed=own.seed, simulators=(*DEMO_SIMULATORS, near()))
        requests = [
            Request(
                simulators=tuple(map(str, phantom.simulators.values())),
                choices={"human": str(phantom.human), "profile": profile},
                options={"surveys": str(phantom.surveys)},
                outputs=files,
                force=delivery.force,
                plain=True,
                alone=profile != "robust",
            )
            for profile, files in (("robust", outputs), ("tau-usi", published))
        ]
        _claim(requests, verdicts, force=delivery.force)
        done = [scored(request, quiet=delivery.quiet) for request in requests]
        done[0] = replace(done[0], verdict=gate_scorecard(done[0].card, tier("B")))
        pairs = zip(done, requests, strict=True)
        written = [path for d, r in pairs for path in write(d, r, quiet=delivery.quiet)]
    robust, plain = (each.card for each in done)
    verdict = _gated(robust, done[0].verdict, verdicts, force=delivery.force)
    for path in (*written, *verdicts):
        note(f"written: {path}", quiet=delivery.quiet)
    out(f"SYNTHETIC demo report: {outputs[-1]}\n")
    ceiling, by_robust, worst = card_text.headline(robust)
    lines = [f"{by_robust} {card_text.order(plain)}", f"{ceiling} {worst}", verdict]
    out("".join(f"  {line}\n" for line in lines))


def _claim(requests: list[Request], verdicts: tuple[Path, ...], *, force: bool) -> None:
    """Refuse before any work where a file of somebody else is in the way."""
    from usi.cli.score import known_forms
    from usi.report import files

    for request in requests:
        files.claim(request.outputs, known=known_forms(), force=force)
    files.claim(verdicts, known=(".json", ".md"), force=force)


def near() -> PhantomSpec:
    """A simulator so near to people that the demo's data can't tell: what INCONCLUSIVE is."""
    from dataclasses import replace

    from usi.phantom import at_strength

    return replace(at_strength(0.18), name="near")


def _gated(
    card: Scorecard, verdict: Verdict | None, outputs: tuple[Path, ...], *, force: bool
) -> str:
    """Write the verdict at tier B, and say it in a line."""
    from usi.report import files, verdict_markdown

    if verdict is None:
        return ""
    files.claim(outputs, known=(".json", ".md"), force=force)
    texts = (verdict.to_json(), verdict_markdown.render(verdict))
    files.write_all({p: files.text(t) for p, t in zip(outputs, texts, strict=True)})
    order = [side.name for side in card.simulators]
    said = sorted(verdict.simulators, key=lambda part: order.index(part.name))
    return "Gate at tier B: " + ", ".join(_decided(part) for part in said) + "."


def _decided(part: SimulatorVerdict) -> str:
    warned = [check.id for check in part.checks if check.state == "warning"]
    return f"{part.name} {part.verdict}" + (f" (warned: {' and '.join(warned)})" if warned else "")
