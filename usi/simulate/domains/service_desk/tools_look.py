"""What an agent of the service desk can look up."""

from __future__ import annotations

from typing import Any, Literal

from usi.simulate.domains import Database, ToolError, read

Group = Literal[
    "service_desk", "field_support", "network", "identity", "applications", "security", "vendor"
]


@read
def verify_caller(db: Database, employee_id: str, staff_code: str) -> dict[str, Any]:
    """Check that the caller is who they say they are.

    Parameters
    ----------
    employee_id
        Employee number, such as E1001.
    staff_code
        Four digits that only the employee knows.
    """
    employee = db.get("employees", employee_id)
    if employee["staff_code"] != staff_code:
        raise ToolError("the staff code does not belong to this employee number")
    return {"verified": True, **_employee(employee_id, employee)}


@read
def find_employee(db: Database, name: str) -> list[dict[str, Any]]:
    """Find employees by a part of their name.

    Parameters
    ----------
    name
        Any part of the name.
    """
    return [
        _employee(key, record)
        for key, record in db.table("employees").items()
        if name.casefold() in record["name"].casefold()
    ]


@read
def get_employee(db: Database, employee_id: str) -> dict[str, Any]:
    """Show name, department, site, role and manager of an employee.

    Parameters
    ----------
    employee_id
        Employee number.
    """
    return _employee(employee_id, db.get("employees", employee_id))


@read
def get_account(db: Database, employee_id: str) -> dict[str, Any]:
    """Show an employee's account: locked, privileged, second factor, last reset, access.

    Parameters
    ----------
    employee_id
        Employee number.
    """
    return dict(db.get("accounts", employee_id))


@read
def get_incident(db: Database, incident_id: str) -> dict[str, Any]:
    """Show an incident with priority, group, status and the time by which it is due.

    Parameters
    ----------
    incident_id
        Such as INC0301.
    """
    return {"incident_id": incident_id, **db.get("incidents", incident_id)}


@read
def list_incidents(db: Database, employee_id: str) -> list[dict[str, Any]]:
    """List the incidents of an employee.

    Parameters
    ----------
    employee_id
        Employee number.
    """
    found = db.where("incidents", requester=employee_id)
    return [{"incident_id": key, **record} for key, record in found.items()]


@read
def get_request(db: Database, request_id: str) -> dict[str, Any]:
    """Show a request and its approvals.

    Parameters
    ----------
    request_id
        Such as REQ0101.
    """
    request = db.get("requests", request_id)
    approvals = db.where("approvals", request=request_id)
    return {"request_id": request_id, **request, "approvals": approvals}


@read
def list_requests(db: Database, employee_id: str) -> list[dict[str, Any]]:
    """List the requests of an employee.

    Parameters
    ----------
    employee_id
        Employee number.
    """
    found = db.where("requests", requester=employee_id)
    return [{"request_id": key, **record} for key, record in found.items()]


@read
def list_approvals(db: Database, employee_id: str) -> list[dict[str, Any]]:
    """List the pending approvals that an employee is to decide.

    Parameters
    ----------
    employee_id
        Employee number of the approver.
    """
    found = db.where("approvals", approver=employee_id, status="pending")
    return [
        {"approval_id": key, **record, "of": db.get("requests", record["request"])}
        for key, record in found.items()
    ]


@read
def list_assets(db: Database, employee_id: str) -> list[dict[str, Any]]:
    """List the devices of an employee, without recovery keys.

    Parameters
    ----------
    employee_id
        Employee number.
    """
    return [_asset(key, record) for key, record in db.where("assets", owner=employee_id).items()]


@read
def get_asset(db: Database, asset_id: str) -> dict[str, Any]:
    """Show a device, without its recovery key.

    Parameters
    ----------
    asset_id
        Such as AST-4101.
    """
    return _asset(asset_id, db.get("assets", asset_id))


@read
def get_recovery_key(db: Database, asset_id: str) -> dict[str, Any]:
    """Show the key that unlocks the disk of a device. Only its owner may be told.

    Parameters
    ----------
    asset_id
        Such as AST-4101.
    """
    key = db.get("assets", asset_id)["recovery_key"]
    if key is None:
        raise ToolError("this device has no recovery key")
    return {"asset_id": asset_id, "recovery_key": key}


@read
def list_catalog(db: Database) -> list[dict[str, Any]]:
    """List what can be requested, with price, approvals and number available."""
    return [{"item": key, **record} for key, record in db.table("catalog").items()]


@read
def get_item(db: Database, item: str) -> dict[str, Any]:
    """Show an item of the catalogue: price, approvals in their order, number available.

    Parameters
    ----------
    item
        Such as HEAD-2.
    """
    return {"item": item, **db.get("catalog", item)}


@read
def get_group(db: Database, group: Group) -> dict[str, Any]:
    """Show what a support group handles.

    Parameters
    ----------
    group
        Name of the group.
    """
    return dict(db.get("groups", group))


@read
def get_service_levels(db: Database) -> dict[str, Any]:
    """Show hours to respond and to resolve for each priority."""
    return dict(db.table("service_levels"))


def _employee(key: str, record: dict[str, Any]) -> dict[str, Any]:
    return {"employee_id": key} | {k: v for k, v in record.items() if k != "staff_code"}


def _asset(key: str, record: dict[str, Any]) -> dict[str, Any]:
    return {"asset_id": key} | {k: v for k, v in record.items() if k != "recovery_key"}
