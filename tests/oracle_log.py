"""Features of one case in plain Python, straight from their definitions: the independent check."""

from __future__ import annotations

import math
from itertools import groupby, pairwise

DONE = ("resolved", "closed")


def case_features(events, classes, *, blank="drop", pattern="aba"):
    """Features of a case; ``events``: dicts with activity, hours, group, resource, level, field."""
    n = len(events)
    names = [event["activity"] for event in events]
    times = [event["hours"] for event in events]
    gaps = [b - a for a, b in pairwise(times)]
    cycle = times[-1] - times[0]
    kinds = [classes[name] for name in names]
    waits = [kind == "wait_user" for kind in kinds]
    found = {
        "events_per_case": n,
        "self_loop_rate": sum(a == b for a, b in pairwise(names)) / (n - 1) if n > 1 else None,
        "repetition_rate": 1 - len(set(names)) / n,
        "gap": geometric([gap for gap in gaps if gap > 0]),
        "burstiness": burstiness(gaps) if n >= 4 else None,
        "front_load": sum(t - times[0] <= cycle / 4 for t in times) / n
        if n >= 3 and cycle
        else None,
        "wait_user_case": float(any(waits)),
        "wait_user_event_share": sum(waits) / n,
        "wait_user_trips": sum(key for key, _ in groupby(waits)),
        "wait_other_case": float("wait_other" in kinds),
    }
    spent = sum(gap for gap, wait in zip(gaps, waits[:-1], strict=True) if wait)
    found["wait_user_time_share"] = spent / cycle if cycle else None
    found["wait_user_time"] = spent if any(waits) else None
    ends = [i for i, kind in enumerate(kinds) if kind in DONE]
    later = kinds[ends[0] :] if ends else []
    found["reopen"] = float(any(kind not in DONE for kind in later))
    known = [(a["resource"], b["resource"]) for a, b in pairwise(events)]
    known = [pair for pair in known if None not in pair]
    found["handover_rate"] = sum(a != b for a, b in known) / len(known) if known else None
    groups = [event["group"] for event in events]
    groups = [g for g in groups if g is not None] if blank == "drop" else [g or "" for g in groups]
    runs = [key for key, _ in groupby(groups)]
    found["group_changes"] = len(runs) - 1 if runs else None
    found["ping_pong"] = bounced(runs, pattern) if runs else None
    levels = [event["level"] for event in events if event["level"] is not None]
    found["escalate"] = float(any(b > a for a, b in pairwise(levels))) if levels else None
    found["deescalate"] = float(any(b < a for a, b in pairwise(levels))) if levels else None
    fields = [event["field"] for event in events]
    found["field_updates"] = sum(a != b for a, b in pairwise(fields))
    found["opening_completeness"] = float(fields[0] is not None)
    found["never_complete"] = float(all(value is None for value in fields))
    full = [t for t, value in zip(times, fields, strict=True) if value is not None]
    found["time_to_full_info"] = full[0] - times[0] if full else None
    found["reclassified"] = float(len({value for value in fields if value is not None}) > 1)
    return found


def geometric(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def burstiness(gaps):
    mean = sum(gaps) / len(gaps)
    sd = math.sqrt(sum((gap - mean) ** 2 for gap in gaps) / len(gaps))
    return (sd - mean) / (sd + mean) if sd + mean else None


def bounced(runs, pattern):
    if pattern == "revisit":
        return float(len(set(runs)) < len(runs))
    width = len(pattern)
    return float(
        any(
            runs[i] == runs[i + 2] and (width == 3 or runs[i + 1] == runs[i + 3])
            for i in range(len(runs) - width + 1)
        )
    )
