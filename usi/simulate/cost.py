"""What a run would call and cost, before any call is made."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from usi.simulate.agents.agent import OutsideAgents
from usi.simulate.agents.model import ModelAgents
from usi.simulate.client import CHARACTERS_A_TOKEN, ModelSettings, prices
from usi.simulate.episode import Setting
from usi.simulate.runner import RunPlan
from usi.simulate.user import UserFactory
from usi.simulate.users.external import OutsideUsers
from usi.simulate.users.model import ModelUsers

TURNS = 8
"""User turns of a typical episode (tau-bench airline, user model gpt-4o: 7.3)."""
STEPS = 2.5
"""Calls of an agent for each user turn, tools included."""
WORDS_A_TURN = 60
"""Tokens of a message, about."""
WORDS_A_RESULT = 200


@dataclass(frozen=True)
class CostEstimate:
    """Calls, tokens and money of one party over a whole run; `cost` ``None``: price not known."""

    party: str
    model: str
    calls: int
    tokens_in: int
    tokens_out: int
    cost: float | None


def estimate_costs(
    users: UserFactory, setting: Setting, episodes: int, *, survey: bool
) -> list[CostEstimate]:
    """Estimate a run; parties that call nothing are left out."""
    found = []
    talk = TURNS * WORDS_A_TURN  # tokens of half a talk of two parties
    if isinstance(users, ModelUsers):
        drafts = 2 if users.strategy == "verify" else 1
        calls = episodes * (TURNS * drafts + int(survey))
        system = (len(users.prompt) + _mean_instruction(setting)) // CHARACTERS_A_TOKEN
        found.append(_of("user", users.settings, calls, system + talk))
    elif isinstance(users, OutsideUsers):
        calls = episodes * (TURNS + int(survey))
        found.append(CostEstimate("user", str(users.identity["kind"]), calls, 0, 0, None))
    agent = setting.agent
    calls = round(episodes * TURNS * STEPS)
    if isinstance(agent, ModelAgents):
        book = len(setting.domain.policy) if setting.policy else 0
        tools = len(json.dumps([dict(t) for t in setting.domain.tools]))
        seen = talk + int((STEPS - 1) * TURNS / 2 * WORDS_A_RESULT)
        found.append(
            _of("agent", agent.settings, calls, (book + tools) // CHARACTERS_A_TOKEN + seen)
        )
    elif isinstance(agent, OutsideAgents):
        found.append(CostEstimate("agent", str(agent.identity["kind"]), calls, 0, 0, None))
    return found


def _of(party: str, settings: ModelSettings, calls: int, tokens: int) -> CostEstimate:
    price = prices(settings)
    tokens_in, tokens_out = calls * tokens, calls * WORDS_A_TURN
    cost = None if price is None else tokens_in * price[0] + tokens_out * price[1]
    return CostEstimate(party, settings.model, calls, tokens_in, tokens_out, cost)


def _mean_instruction(setting: Setting) -> int:
    tasks = setting.domain.tasks
    return sum(len(task.instruction) for task in tasks) // max(1, len(tasks))


def run_estimate(plans: Sequence[RunPlan]) -> dict[str, Any]:
    """What ``--dry-run`` prints: calls, tokens and money of every candidate of a run."""
    rows = []
    for plan in plans:
        survey = plan.setting.instrument is not None
        parties = estimate_costs(plan.users, plan.setting, len(plan.cells), survey=survey)
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


def unpriced(parties: Sequence[Any]) -> list[str]:
    """Models among users and agents whose price is not known, by name."""
    found = [party.settings for party in parties if hasattr(party, "settings")]
    return sorted({settings.model for settings in found if prices(settings) is None})
