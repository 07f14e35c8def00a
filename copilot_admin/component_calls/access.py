"""Which component a key may call, and which copilot lends it model and settings.

A key for every copilot may call every component. A key for some may call what is switched on in
their published versions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from copilot_admin.agent.components.base import Component
from copilot_admin.agent.components.registry import LATEST, registry
from copilot_admin.agent.values.spec import ComponentUse
from copilot_admin.copilots.callers import Caller, check_user, identify
from copilot_admin.copilots.live import LiveCopilot, admit, live_copilots
from copilot_admin.copilots.users import AskingUser
from copilot_admin.errors import Forbidden, NotFound, Unauthorized


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A component that may be called.

    Attributes:
        lender: The copilot whose model it may ask; None: it has no model.
        config: What the lender's builder set.
    """

    component: type[Component]
    caller: Caller
    lender: LiveCopilot | None = None
    config: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Loan:
    copilot: LiveCopilot
    use: ComponentUse


def identify_with_key(key: str | None, user: AskingUser | None = None) -> Caller:
    """Finds out who calls; there are no anonymous callers of components.

    Raises:
        Unauthorized: There is no key, or it is unknown, expired or revoked; or nobody knows who
            calls, where the server wants to know it.
    """
    caller = identify(key, user)
    check_user(caller)
    if caller.key_id is None:
        raise Unauthorized(
            "Components need an endpoint key. Send it as 'Authorization: Bearer KEY' or "
            "'X-API-Key: KEY'."
        )
    return caller


def find(name: str, version: str = LATEST) -> type[Component]:
    """A component of this server.

    Raises:
        NotFound: There is none of this name, or not in this version.
    """
    component = registry().find(name, version)
    if component is not None:
        return component
    versions = registry().versions(name)
    if versions:
        raise NotFound(
            f"The component '{name}' has no version '{version}'. It has: {', '.join(versions)}.",
            code="unknown-version",
        )
    raise NotFound(
        f"No component is named '{name}'. GET /v2/components lists those there are.",
        code="unknown-component",
    )


def grant(name: str, version: str, *, key: str | None, caller: Caller, copilot: str = "") -> Grant:
    """Opens a component to a caller; reads the database.

    Args:
        name: Of the component.
        version: As it stands in the address; "latest" where none does.
        key: The endpoint key of the request.
        caller: To whom it belongs.
        copilot: The slug of the copilot that is to lend its model and settings, if one is named.

    Raises:
        NotFound: There is no such component, version or copilot.
        Forbidden: The key may not call it, or not through this copilot.
    """
    component = find(name, version)
    lender = admit(copilot, key=key, user=caller.user)[0] if copilot else None
    if caller.copilot_ids is None:
        loans = _loans((lender,), name) if lender else ()
        whole = Grant(component=component, caller=caller, lender=lender)
        return _lent(component, loans, version=version, caller=caller) or whole
    ids = caller.copilot_ids if lender is None else caller.copilot_ids & {lender.id}
    copilots = live_copilots(ids)
    loans = _loans(copilots, name)
    lent = _lent(component, loans, version=version, caller=caller)
    if lent is None:
        raise _not_lent(name, version, loans=loans, copilots=copilots)
    return lent


def catalogue(caller: Caller) -> Sequence[type[Component]]:
    """Every version of every component that a caller may call; reads the database."""
    if caller.copilot_ids is None:
        return registry().all()
    copilots = live_copilots(caller.copilot_ids)
    loans = [loan for name in registry().names() for loan in _loans(copilots, name)]
    return [one for one in registry().all() if any(_lends(loan, one) for loan in loans)]


def _loans(copilots: Sequence[LiveCopilot], name: str) -> tuple[_Loan, ...]:
    return tuple(
        _Loan(copilot, use)
        for copilot in copilots
        for use in (copilot.answerer.spec.components if copilot.answerer else ())
        if use.name == name
    )


def _lends(loan: _Loan, component: type[Component]) -> bool:
    pinned = loan.use.version
    if loan.use.name != component.name:
        return False
    return pinned in ("", LATEST) or registry().find(component.name, pinned) is component


def _lent(
    component: type[Component], loans: Sequence[_Loan], *, version: str, caller: Caller
) -> Grant | None:
    for loan in loans:
        pinned = registry().find(component.name, loan.use.version)
        lent = pinned if version in ("", LATEST) and pinned is not None else component
        if _lends(loan, lent):
            return Grant(component=lent, caller=caller, lender=loan.copilot, config=loan.use.config)
    return None


def _not_lent(
    name: str, version: str, *, loans: Sequence[_Loan], copilots: Sequence[LiveCopilot]
) -> Forbidden:
    if loans:
        return Forbidden(
            f"This key may not call version '{version}' of '{name}': its copilots use another. "
            "Leave the version out."
        )
    unready = next((one for one in copilots if one.problem), None)
    if unready is not None:
        return Forbidden(
            f"This key may not call '{name}' now: its copilot '{unready.slug}' is not ready. "
            f"{unready.problem}"
        )
    return Forbidden(
        f"This key may not call '{name}': no copilot that it is for has the component switched on "
        "in its published version. Use another key, or ask a builder to switch it on."
    )
