"""Incidents. Tools keep records consistent; the rule book is the agent's matter."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Literal

from usi.simulate.domains import Database, FreeText, ToolError, write

Category = Literal["hardware", "network", "account", "application", "security"]
Impact = Literal["person", "team", "site"]
Urgency = Literal["low", "medium", "high"]
Group = Literal[
    "service_desk", "field_support", "network", "identity", "applications", "security", "vendor"
]

WEIGHT = {"person": 1, "team": 2, "site": 3, "low": 1, "medium": 2, "high": 3}
PRIORITY = {6: "P1", 5: "P2", 4: "P3"}


@write
def open_incident(
    db: Database,
    requester: str,
    category: Category,
    impact: Impact,
    urgency: Urgency,
    summary: FreeText,
    asset: str | None = None,
) -> dict[str, Any]:
    """Open an incident; priority and due time follow from impact and urgency.

    Parameters
    ----------
    requester
        Employee number of the person it is for.
    category
        What is broken.
    impact
        Who is affected: one person, a team, a whole site.
    urgency
        high: work stands still; medium: work is hindered; low: anything else.
    summary
        One line in your own words.
    asset
        The device, where it is a device.
    """
    db.get("employees", requester)
    if asset is not None:
        db.get("assets", asset)
    record: dict[str, Any] = {
        "requester": requester,
        "summary": summary,
        "category": category,
        "status": "new",
        "group": "service_desk",
        "involved": ["service_desk"],
        "asset": asset,
        "opened": db.now,
        "resolved": None,
        "code": None,
        "notes": [],
    }
    _set_priority(db, record, impact, urgency)
    incident_id = db.insert("incidents", "INC", record)
    return {"incident_id": incident_id, "priority": record["priority"], "due": record["due"]}


@write
def change_priority(
    db: Database, incident_id: str, impact: Impact, urgency: Urgency
) -> dict[str, Any]:
    """Set impact and urgency of an open incident; priority and due time follow from them.

    Parameters
    ----------
    incident_id
        Such as INC0301.
    impact
        Who is affected: one person, a team, a whole site.
    urgency
        high: work stands still; medium: work is hindered; low: anything else.
    """
    record = _open_incident(db, incident_id)
    if (record["impact"], record["urgency"]) == (impact, urgency):
        raise ToolError("impact and urgency are so already")
    _set_priority(db, record, impact, urgency)
    return {"incident_id": incident_id, "priority": record["priority"], "due": record["due"]}


@write
def assign_incident(db: Database, incident_id: str, group: Group) -> dict[str, Any]:
    """Hand an open incident over to a group.

    Parameters
    ----------
    incident_id
        Such as INC0301.
    group
        The group that takes it.
    """
    record = _open_incident(db, incident_id)
    if record["group"] == group:
        raise ToolError(f"the incident is with {group} already")
    record["group"], record["status"] = group, "assigned"
    if group not in record["involved"]:
        record["involved"].append(group)
    return {"incident_id": incident_id, "group": group}


@write
def resolve_incident(
    db: Database,
    incident_id: str,
    code: Literal["fixed", "workaround", "no_fault", "duplicate"],
) -> dict[str, Any]:
    """Mark an open incident as resolved.

    Parameters
    ----------
    incident_id
        Such as INC0301.
    code
        How it was resolved.
    """
    record = _open_incident(db, incident_id)
    record.update(status="resolved", resolved=db.now, code=code)
    return {"incident_id": incident_id, "status": "resolved"}


@write
def reopen_incident(db: Database, incident_id: str) -> dict[str, Any]:
    """Open a resolved incident again, with its old group.

    Parameters
    ----------
    incident_id
        Such as INC0301.
    """
    record = db.get("incidents", incident_id)
    if record["status"] != "resolved":
        raise ToolError("only a resolved incident can be reopened")
    record.update(status="assigned", resolved=None, code=None)
    return {"incident_id": incident_id, "status": "assigned", "group": record["group"]}


@write
def cancel_incident(db: Database, incident_id: str) -> dict[str, Any]:
    """Cancel an open incident that is no longer needed.

    Parameters
    ----------
    incident_id
        Such as INC0301.
    """
    _open_incident(db, incident_id)["status"] = "cancelled"
    return {"incident_id": incident_id, "status": "cancelled"}


@write
def add_note(db: Database, incident_id: str, text: FreeText) -> dict[str, Any]:
    """Add a working note to an incident.

    Parameters
    ----------
    incident_id
        Such as INC0301.
    text
        The note.
    """
    db.get("incidents", incident_id)["notes"].append(text)
    return {"incident_id": incident_id, "noted": True}


def _set_priority(db: Database, record: dict[str, Any], impact: str, urgency: str) -> None:
    priority = PRIORITY.get(WEIGHT[impact] + WEIGHT[urgency], "P4")
    hours = db.get("service_levels", priority)["resolve_hours"]
    due = datetime.fromisoformat(record["opened"]) + timedelta(hours=hours)
    record.update(
        impact=impact, urgency=urgency, priority=priority, due=due.isoformat(timespec="minutes")
    )


def _open_incident(db: Database, incident_id: str) -> dict[str, Any]:
    record = db.get("incidents", incident_id)
    if record["status"] not in ("new", "assigned"):
        raise ToolError(f"the incident is {record['status']}")
    return record
