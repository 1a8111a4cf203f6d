"""Requests and their approvals."""

from __future__ import annotations

from typing import Any, Literal

from usi.simulate.domains import Database, ToolError, write

Role = Literal["manager", "owner", "security", "finance"]
SECURITY_APPROVER, FINANCE_APPROVER = "E1016", "E1010"


@write
def submit_request(
    db: Database,
    requester: str,
    item: str,
    quantity: int = 1,
    deliver_to: Literal["office", "home"] = "office",
) -> dict[str, Any]:
    """Request an item of the catalogue.

    Parameters
    ----------
    requester
        Employee number of the person it is for.
    item
        Such as HEAD-2.
    quantity
        How many.
    deliver_to
        Where it goes; software and access go nowhere (office).
    """
    db.get("employees", requester)
    entry = db.get("catalog", item)
    if quantity < 1:
        raise ToolError("quantity must be at least 1")
    if entry["available"] is not None and entry["available"] < quantity:
        raise ToolError(f"only {entry['available']} of {item} are available")
    if entry["available"] is not None:
        entry["available"] -= quantity
    status = "awaiting_approval" if entry["approvals"] else "ordered"
    record = {
        "requester": requester,
        "item": item,
        "quantity": quantity,
        "deliver_to": deliver_to,
        "status": status,
        "submitted": db.now[:10],
    }
    return {"request_id": db.insert("requests", "REQ", record), "status": status}


@write
def cancel_request(db: Database, request_id: str) -> dict[str, Any]:
    """Cancel a request; pending approvals are withdrawn.

    Parameters
    ----------
    request_id
        Such as REQ0101.
    """
    record = db.get("requests", request_id)
    if record["status"] in ("delivered", "cancelled"):
        raise ToolError(f"the request is {record['status']}")
    record["status"] = "cancelled"
    for approval in db.where("approvals", request=request_id, status="pending").values():
        approval["status"] = "withdrawn"
    return {"request_id": request_id, "status": "cancelled"}


@write
def request_approval(db: Database, request_id: str, role: Role) -> dict[str, Any]:
    """Ask one of a request's approvers for approval.

    Parameters
    ----------
    request_id
        Such as REQ0101.
    role
        Which of the approvals that the catalogue names.
    """
    request = db.get("requests", request_id)
    entry = db.get("catalog", request["item"])
    approval_id = f"{request_id}-{role}"
    if role not in entry["approvals"]:
        raise ToolError(f"{request['item']} needs no approval by {role}")
    if approval_id in db.table("approvals"):
        raise ToolError(f"{approval_id} was asked for already")
    manager = db.get("employees", request["requester"])["manager"]
    approver = {
        "manager": manager or request["requester"],
        "owner": entry["owner"],
        "security": SECURITY_APPROVER,
        "finance": FINANCE_APPROVER,
    }[role]
    db.table("approvals")[approval_id] = {
        "request": request_id,
        "role": role,
        "approver": approver,
        "status": "pending",
    }
    name = db.get("employees", approver)["name"]
    return {"approval_id": approval_id, "approver": approver, "name": name}


@write
def decide_approval(
    db: Database, approval_id: str, decision: Literal["approved", "rejected"]
) -> dict[str, Any]:
    """Record the decision of an approver.

    Parameters
    ----------
    approval_id
        Such as REQ0101-manager.
    decision
        What the approver decided.
    """
    approval = db.get("approvals", approval_id)
    if approval["status"] != "pending":
        raise ToolError(f"the approval is {approval['status']}")
    approval["status"] = decision
    request = db.get("requests", approval["request"])
    if decision == "rejected":
        request["status"] = "rejected"
    else:
        given = db.where("approvals", request=approval["request"], status="approved")
        roles = {record["role"] for record in given.values()}
        if roles >= set(db.get("catalog", request["item"])["approvals"]):
            request["status"] = "approved"
    return {"approval_id": approval_id, "decision": decision, "request_status": request["status"]}
