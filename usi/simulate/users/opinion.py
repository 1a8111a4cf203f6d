"""What a scripted user thinks afterwards, by rule: the answers of the published survey."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from usi.simulate.protocol import Message
from usi.simulate.users.listening import occasion


def opinion(
    history: Sequence[Message], *, polite: float = 0.0, left: bool = False
) -> Mapping[str, str]:
    """Answers to the eight published questions from what was said.

    Parameters
    ----------
    history
        Agent's and user's messages.
    polite
        A polite user rates one step higher.
    left
        The user gave up.
    """
    heard = [m["content"] for m in history if m["role"] == "assistant"]
    kinds = [occasion(text, {}) for text in heard[1:]]
    refused, questions = "refused" in kinds, sum("?" in text for text in heard[1:])
    kind = 1 if polite > 0.5 else 0
    if left:
        success = "No - Task failed"
    elif refused:
        success = "No - Due to a policy issue, which the agent clearly explained"
    else:
        success = "Fully - Exceeded expectations" if kind else "Yes - Task completed"
    pick = min(3, max(0, 3 - questions // 2 + kind))
    smooth = ("Not smooth", "OK", "Smooth", "Excellent")
    quick = (
        "Very inefficient - Too many steps", "Somewhat inefficient", "About right",
        "Very efficient",
    )  # fmt: skip
    overall = max(0, min(4, (0 if left else 2 if refused else 3) + kind))
    scores = ("1 (Very poor)", "2 (Poor)", "3 (Acceptable)", "4 (Good)", "5 (Excellent)")
    again = ("Absolutely no", "No", "Maybe", "Yes", "Absolutely yes")
    return {
        "task_success": success,
        "efficiency": quick[0 if left else pick],
        "question_amount_preference": "Too many" if questions > 4 or left else "About right",
        "answer_effort_time": ("High", "Medium", "Low")[min(2, max(0, 2 - questions // 3))],
        "human_like": "Partially" if kind else "No",
        "interaction_flow": smooth[0 if left else pick],
        "overall_score": scores[overall],
        "reuse": again[overall],
    }
