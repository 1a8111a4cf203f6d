"""The work behind `usi simulate`: from options to a run, a judgement, a person's session."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from usi.cli.console import note, out
from usi.errors import InputError, UsageError
from usi.loading.labels import simulator_label
from usi.options import CallOptions
from usi.report.text import printable
from usi.simulate.agents.agent import fingerprint
from usi.simulate.calls import Budget, Cache, Ledger, Runtime, Usage
from usi.simulate.candidates import USER_KINDS, Table, describe, label_of, read_agent, read_users
from usi.simulate.cost import estimate_costs, unpriced
from usi.simulate.domains import load_domain
from usi.simulate.episode import MAX_STEPS, MAX_TURNS, Setting
from usi.simulate.questions import read_instrument, survey_file
from usi.simulate.runner import Run, RunPlan, Summary, choose_tasks, make_cells
from usi.simulate.sessions import SURVEYS, write_whole
from usi.simulate.user import UserFactory

ANSWERS = ".answers.sqlite"


def runtime_of(calls: CallOptions, folder: Path, spent: Usage | None = None) -> Runtime:
    """Cache, budget and pace of a run."""
    path = calls.cache or folder / ANSWERS
    if calls.replay and not path.exists():
        raise UsageError(f"--replay: there is no cache {path}; run without --replay first")
    return Runtime(
        cache=Cache(path),
        ledger=Ledger(Budget(calls.budget, calls.budget_tokens), spent),
        replay=calls.replay,
        retries=calls.retries,
        per_minute=calls.per_minute,
    )


@dataclass(frozen=True)
class Request:
    """Options of `usi simulate`, as given."""

    simulators: tuple[str, ...]
    domain: str
    agent: str
    folder: Path
    tasks: str | None
    runs: int
    user_seeds: int | None
    agent_seeds: int | None
    seed: int
    name: str | None
    policy: bool
    survey: bool
    instrument: Path | None
    max_turns: int
    max_steps: int
    concurrency: int
    retry_failed: bool
    calls: CallOptions
    dry_run: bool
    quiet: bool


def setting_of(
    domain: str,
    agent: str,
    *,
    policy: bool,
    instrument: Path | None,
    survey: bool,
    max_turns: int = MAX_TURNS,
    max_steps: int = MAX_STEPS,
) -> Setting:
    """Domain, agent with its fingerprint, survey and limits."""
    loaded = load_domain(domain)
    chosen = read_agent(agent)
    return Setting(
        domain=loaded,
        agent=chosen,
        agent_name=fingerprint(chosen, loaded, policy=policy),
        policy=policy,
        instrument=read_instrument(instrument) if survey else None,
        max_turns=max_turns,
        max_steps=max_steps,
    )


def run(request: Request) -> None:
    """Run every candidate, one after the other."""
    setting = setting_of(
        request.domain,
        request.agent,
        policy=request.policy,
        instrument=request.instrument,
        survey=request.survey,
        max_turns=request.max_turns,
        max_steps=request.max_steps,
    )
    plans = _plans(request, setting)
    if request.dry_run:
        out(json.dumps(_dry(request, plans), indent=2) + "\n")
        return
    _check_prices(request.calls, [p.users for p in plans], setting)
    runs: list[Run] = []
    try:
        for plan in plans:
            runs.append(Run(plan))
        spent = sum((r.spent for r in runs), Usage())
        runtime = runtime_of(request.calls, request.folder, spent)
        try:
            summaries = []
            for one in runs:
                summary = one.go(runtime)
                summaries.append(summary)
                _say(summary, quiet=request.quiet)
                if summary.stopped:
                    break
        finally:
            runtime.cache.close()
    finally:
        for one in runs:
            one.log.close()
        for plan in plans:
            _close(plan.users)
    if not sys.stdout.isatty():
        out(json.dumps([_summary(s) for s in summaries], indent=2) + "\n")


def _plans(request: Request, setting: Setting) -> list[RunPlan]:
    cells = make_cells(
        choose_tasks(setting.domain, request.tasks),
        runs=request.runs,
        user_seeds=request.user_seeds,
        agent_seeds=request.agent_seeds,
        first_seed=request.seed,
    )
    crossed = request.user_seeds is not None or request.agent_seeds is not None
    design = f"{'crossed' if crossed else 'runs'} from seed {request.seed}"
    if crossed:
        design += f", {request.agent_seeds or 1} agent seeds"
    if request.name and len(request.simulators) > 1:
        raise UsageError("--name names one simulator; run them one by one")
    plans: list[RunPlan] = []
    for text in request.simulators:
        label, users = read_users(text, domain=setting.domain.name)
        label = label_of(simulator_label(request.name)) if request.name else label
        if label in {plan.label for plan in plans}:
            raise UsageError(f"two simulators are called {label!r}: run one of them with --name")
        plans.append(
            RunPlan(
                label,
                users,
                cells,
                setting,
                request.folder,
                design,
                request.concurrency,
                request.retry_failed,
                request.quiet,
            )
        )
    return plans


def _check_prices(calls: CallOptions, users: Sequence[UserFactory], setting: Setting) -> None:
    """A budget in money needs prices."""
    if not calls.budget or calls.replay:
        return
    unknown = unpriced([*users, setting.agent])
    if unknown:
        raise UsageError(
            f"--budget can't be held: the price of {', '.join(unknown)} is not known; give "
            "price_in and price_out (US dollars a million tokens) in its TOML file, or use "
            "--budget-tokens"
        )


def _dry(request: Request, plans: Sequence[RunPlan]) -> dict[str, Any]:
    rows = []
    for plan in plans:
        parties = estimate_costs(plan.users, plan.setting, len(plan.cells), survey=request.survey)
        costs = [party.cost for party in parties]
        rows.append(
            {
                "simulator": plan.label,
                "episodes": len(plan.cells),
                "calls": sum(party.calls for party in parties),
                "tokens": sum(party.tokens_in + party.tokens_out for party in parties),
                "cost_usd": None
                if any(cost is None for cost in costs)
                else round(sum(cost or 0.0 for cost in costs), 4),
                "parties": [asdict(party) for party in parties],
            }
        )
    return {
        "dry_run": True,
        "domain": plans[0].setting.domain.name,
        "agent": plans[0].setting.agent_name,
        "note": "estimates from typical talks; cost_usd null: a price is not known",
        "simulators": rows,
    }


def _say(summary: Summary, *, quiet: bool) -> None:
    s = summary
    where = f" -> {s.output}" if s.output.exists() else ""  # nothing done, nothing written
    note(f"{s.label}: {s.done} of {s.wanted} episodes{where}", quiet=quiet)
    ends = ", ".join(f"{reason} {n}" for reason, n in sorted(s.terminations.items()))
    if s.graded:
        note(f"  reward 1 in {s.rewarded} of {s.graded}; ended by {ends}", quiet=quiet)
    if s.infrastructure:
        broken = ", ".join(f"{reason} {n}" for reason, n in sorted(s.infrastructure.items()))
        note(f"  infrastructure, not scored: {broken} (again: --retry-failed)", quiet=quiet)
    if s.defects:
        mended = ", ".join(f"{name} {n}" for name, n in sorted(s.defects.items()))
        note(f"  replies mended by rule: {mended}", quiet=quiet)
    if s.spent.calls:
        note(f"  {s.spent.calls} calls, {s.spent.tokens} tokens, ${s.spent.cost:.4f}", quiet=quiet)
    if s.stopped:
        note(f"  stopped: {s.stopped}. The same command goes on from here.", quiet=quiet)


def _summary(s: Summary) -> dict[str, Any]:
    return {
        "simulator": s.label,
        "output": str(s.output) if s.output.exists() else None,
        "episodes": s.done,
        "wanted": s.wanted,
        "graded": s.graded,
        "rewarded": s.rewarded,
        "terminations": dict(sorted(s.terminations.items())),
        "infrastructure": dict(sorted(s.infrastructure.items())),
        "replies": dict(sorted(s.defects.items())),
        "spent": {**asdict(s.spent), "cost": round(s.spent.cost, 8)},
        "stopped": s.stopped,
    }


def _close(users: UserFactory) -> None:
    close = getattr(getattr(users, "exchange", None), "close", None)
    if close is not None:
        close()


def judge(
    transcripts: Sequence[str],
    *,
    judge: str,
    folder: Path,
    label: str | None,
    instrument: Path | None,
    concurrency: int,
    calls: CallOptions,
    force: bool,
    quiet: bool,
) -> None:
    """Judge talks and write a survey file."""
    from usi.loading import open_sessions
    from usi.simulate.judge import judge_all

    named = describe(judge, USER_KINDS)
    table = Table(named, USER_KINDS, "judge")
    if table.kind != "model":
        raise UsageError(f'--judge {judge}: a judge is a model (kind = "model")')
    settings = table.settings()
    if calls.budget and not calls.replay and unpriced([_Priced(settings)]):
        raise UsageError(f"--budget can't be held: the price of {settings.model} is not known")
    asked = read_instrument(instrument)
    name = label_of(label or named.label)
    path = folder / SURVEYS / f"survey_comparable_{name}.json"
    if path.exists() and not force:
        raise UsageError(f"{path} is there already: --force writes it again, or --label another")
    runtime = runtime_of(calls, folder)
    try:
        found = judge_all(
            open_sessions(list(transcripts)), settings, asked, runtime, concurrency=concurrency
        )
    finally:
        runtime.cache.close()
    if found.answers:
        write_whole(path, survey_file(list(found.answers.items()), asked).encode("utf-8"))
        note(f"written: {path}", quiet=quiet)
    items = len(found.answers) * len(asked.questions)
    note(
        f"{len(found.answers)} talks judged, {found.repaired} repaired, "
        f"{found.unanswered} of {items} answers unanswered",
        quiet=quiet,
    )
    for reason, n in sorted(found.left_out.items()):
        note(f"  left out: {reason} {n}", quiet=quiet)
    if found.stopped:
        note(f"stopped: {found.stopped}. The same command goes on from here.", quiet=quiet)


@dataclass(frozen=True)
class _Priced:
    settings: Any


def _show(line: str) -> None:
    """A line on the person's terminal; what an agent says can't command it."""
    print(printable(line, newlines=True), flush=True)


def human(
    *,
    domain: str,
    agent: str,
    folder: Path,
    tasks: str | None,
    batch: int,
    participant: str | None,
    consent: Path | None,
    policy: bool,
    instrument: Path | None,
    seed: int,
    max_turns: int,
    calls: CallOptions,
) -> None:
    """Let a person play."""
    from usi.simulate.human import CONSENT, HumanPlan, Left, play

    text = CONSENT
    if consent is not None:
        try:
            text = consent.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"can't be read ({error})", file=str(consent)) from None
    setting = setting_of(
        domain, agent, policy=policy, instrument=instrument, survey=True, max_turns=max_turns
    )

    def read(prompt: str) -> str:
        try:
            return input(prompt)
        except EOFError:
            raise Left from None

    plan = HumanPlan(
        folder, choose_tasks(setting.domain, tasks), setting, batch, participant, text, seed
    )
    opened: list[Runtime] = []

    def begin() -> Runtime:
        opened.append(runtime_of(calls, folder))
        return opened[0]

    try:
        stored = play(plan, begin, read, _show)
    except Left:
        raise UsageError("no consent was given: nothing is stored") from None
    finally:
        for runtime in opened:
            runtime.cache.close()
    note(f"{stored} talks stored in {folder} (batch {batch})")
