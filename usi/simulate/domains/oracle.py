"""The oracle with a user who tells what is asked and agrees to what is right."""

from __future__ import annotations

import json
from collections.abc import Sequence

from usi.simulate.domains.folder import FolderDomain
from usi.simulate.domains.state import EpisodeState
from usi.simulate.protocol import Action, Message, Task


def tool_call(action: Action, number: int) -> Message:
    """The assistant's message that makes one call."""
    function = {"name": action.name, "arguments": json.dumps(dict(action.arguments))}
    call = {"id": f"call_{number}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def converse(
    domain: FolderDomain,
    task: Task,
    actions: Sequence[Action],
    *,
    reply: str | None = None,
    accept_offers: bool = False,
) -> tuple[EpisodeState, list[Message]]:
    """Drive these actions, asking for facts and confirming each write.

    Parameters
    ----------
    actions
        Those of the oracle, or changed ones.
    reply
        Last words of the agent; the oracle's where ``None``.
    accept_offers
        The user takes every wrong alternative, and the write that it replaces is left out.

    Returns
    -------
    tuple
        Final state and messages.
    """
    state = domain.new_state()
    messages: list[Message] = [{"role": "user", "content": " ".join(task.requests)}]

    def exchange(agent: str, user: str) -> None:
        messages.append({"role": "assistant", "content": agent})
        messages.append({"role": "user", "content": user})

    left_out = False
    for number, action in enumerate(actions):
        if left_out and action.write and not action.offer:
            left_out = False
            continue
        if action.ask:
            told = ". ".join(
                f"My {name} is {task.facts.get(name, 'unknown')}" for name in action.ask
            )
            exchange(f"Could you tell me your {' and your '.join(action.ask)}?", told)
        what = action.describe or action.name
        if action.offer:
            answer = "Yes, please." if accept_offers else "No, thank you, not that."
            exchange(f"Instead, I could {what}. Shall I do that instead?", answer)
            if not accept_offers:
                continue
            left_out = True
        elif action.write:
            exchange(f"I am going to {what}. Shall I go ahead?", "Yes, please.")
        messages.append(tool_call(action, number))
        result = state.call(action.name, action.arguments)
        messages.append(
            {"role": "tool", "tool_call_id": f"call_{number}", "content": json.dumps(result)}
        )
    last = domain.oracle_reply(task) if reply is None else reply
    messages.append({"role": "assistant", "content": last})
    return state, messages
