"""From the options of `usi simulate` to what a run needs: pace and budget, setting, plans."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from usi.errors import UsageError
from usi.loading.labels import simulator_label
from usi.options import CallOptions, EpisodeOptions, SimulateRunOptions
from usi.secrets import hidden
from usi.simulate.agents.agent import fingerprint
from usi.simulate.calls import Budget, Cache, Ledger, Runtime, Usage
from usi.simulate.candidates import label_of, read_agent, read_users
from usi.simulate.client import ModelSettings
from usi.simulate.cost import unpriced
from usi.simulate.domains import load_domain
from usi.simulate.episode import MAX_STEPS, Setting
from usi.simulate.leave import require_leave
from usi.simulate.questions import read_instrument
from usi.simulate.runner import RunPlan, choose_tasks, make_cells
from usi.simulate.users.replay import ReplayUsers

ANSWERS = ".answers.sqlite"


def runtime_of(calls: CallOptions, folder: Path, spent: Usage | None = None) -> Runtime:
    """Cache, budget and pace of a run.

    Raises
    ------
    UsageError
        For a replay without a cache.
    """
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


def setting_of(own: EpisodeOptions, *, survey: bool, max_steps: int = MAX_STEPS) -> Setting:
    """Domain, agent with its fingerprint, survey and limits."""
    domain = load_domain(own.domain)
    agent = read_agent(own.agent)
    policy = not own.no_policy
    return Setting(
        domain=domain,
        agent=agent,
        agent_name=fingerprint(agent, domain, policy=policy),
        policy=policy,
        instrument=read_instrument(own.instrument) if survey else None,
        max_turns=own.max_turns,
        max_steps=max_steps,
    )


def plans_of(
    simulators: Sequence[str], own: SimulateRunOptions, *, quiet: bool = True
) -> list[RunPlan]:
    """What each candidate is to do, in the order given.

    Raises
    ------
    UsageError
        Where two candidates have one label, ``--name`` is given for several, or recorded talks of
        people must not be sent to the agent's model.
    """
    survey = own.survey or own.instrument is not None
    setting = setting_of(own, survey=survey, max_steps=own.max_steps)
    cells = make_cells(
        choose_tasks(setting.domain, own.tasks),
        runs=own.runs,
        user_seeds=own.user_seeds,
        agent_seeds=own.agent_seeds,
        first_seed=own.seed,
    )
    if own.name and len(simulators) > 1:
        raise UsageError("--name names one simulator; run them one by one")
    plans: list[RunPlan] = []
    for text in simulators:
        label, users = read_users(text, domain=setting.domain.name)
        label = label_of(simulator_label(hidden(own.name))) if own.name else label
        if label in {plan.label for plan in plans}:
            raise UsageError(f"two simulators are called {label!r}: run one of them with --name")
        settings = getattr(setting.agent, "settings", None)
        if isinstance(users, ReplayUsers) and isinstance(settings, ModelSettings):
            require_leave([users.source], settings)
        plans.append(
            RunPlan(
                label,
                users,
                cells,
                setting,
                own.output,
                _design(own),
                own.concurrency,
                own.retry_failed,
                quiet,
            )
        )
    return plans


def _design(own: SimulateRunOptions) -> str:
    crossed = own.user_seeds is not None or own.agent_seeds is not None
    text = f"{'crossed' if crossed else 'runs'} from seed {own.seed}"
    return f"{text}, {own.agent_seeds or 1} agent seeds" if crossed else text


def require_prices(calls: CallOptions, parties: Sequence[Any]) -> None:
    """A budget in money needs prices of all models among users and agents.

    Raises
    ------
    UsageError
        With the models whose price is not known.
    """
    if not calls.budget or calls.replay:
        return
    unknown = unpriced(parties)
    if unknown:
        raise UsageError(
            f"--budget can't be held: the price of {', '.join(unknown)} is not known; give "
            "price_in and price_out (US dollars a million tokens) in its TOML file, or use "
            "--budget-tokens"
        )
