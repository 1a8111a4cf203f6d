"""Accounts and devices."""

from __future__ import annotations

from typing import Any, Literal

from usi.simulate.domains import Database, ToolError, write


@write
def unlock_account(db: Database, employee_id: str) -> dict[str, Any]:
    """Unlock a locked account.

    Parameters
    ----------
    employee_id
        Employee number.
    """
    account = db.get("accounts", employee_id)
    if not account["locked"]:
        raise ToolError("the account is not locked")
    account["locked"] = False
    return {"employee_id": employee_id, "locked": False}


@write
def reset_password(db: Database, employee_id: str) -> dict[str, Any]:
    """Reset a password; a link goes to the employee's manager.

    Parameters
    ----------
    employee_id
        Employee number.
    """
    db.get("accounts", employee_id)["password_reset_on"] = db.now[:10]
    return {"employee_id": employee_id, "link_sent_to": "manager"}


@write
def reset_mfa(db: Database, employee_id: str, method: Literal["app", "key"]) -> dict[str, Any]:
    """Replace the second factor of an account.

    Parameters
    ----------
    employee_id
        Employee number.
    method
        The new second factor.
    """
    account = db.get("accounts", employee_id)
    if account["mfa"] == method:
        raise ToolError(f"the second factor is {method} already")
    account["mfa"] = method
    return {"employee_id": employee_id, "mfa": method}


@write
def revoke_access(db: Database, employee_id: str, access: str) -> dict[str, Any]:
    """Take an access away from an account.

    Parameters
    ----------
    employee_id
        Employee number.
    access
        Item of the catalogue, such as ACC-VPN.
    """
    account = db.get("accounts", employee_id)
    if access not in account["access"]:
        raise ToolError(f"the account has no {access}")
    account["access"].remove(access)
    return {"employee_id": employee_id, "access": account["access"]}


@write
def report_lost(db: Database, asset_id: str) -> dict[str, Any]:
    """Mark a device as lost; it is wiped when it is next online.

    Parameters
    ----------
    asset_id
        Such as AST-4101.
    """
    asset = db.get("assets", asset_id)
    if asset["status"] != "in_use":
        raise ToolError(f"the device is {asset['status']}")
    asset["status"] = "lost"
    return {"asset_id": asset_id, "status": "lost"}


@write
def return_asset(db: Database, asset_id: str) -> dict[str, Any]:
    """Take a device back into stock.

    Parameters
    ----------
    asset_id
        Such as AST-4101.
    """
    asset = db.get("assets", asset_id)
    if asset["status"] != "in_use":
        raise ToolError(f"the device is {asset['status']}")
    asset.update(status="in_stock", owner=None)
    return {"asset_id": asset_id, "status": "in_stock"}
