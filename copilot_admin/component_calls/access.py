"""Access of API keys to components.

A key for every copilot may call every component. A key for some copilots may call what is switched on
in their published versions. A call has the model and settings of one of these copilots.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from copilot_admin.agent.components.base import Component
from copilot_admin.agent.components.registry import LATEST, registry
from copilot_admin.agent.values.spec import ComponentUse
from copilot_admin.copilots.callers import Caller, check_user, identify
from copilot_admin.copilots.end_users import AskingUser
from copilot_admin.copilots.live import LiveCopilot, admit, live_copilots
from copilot_admin.errors import Forbidden, NotFound, Unauthorized


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A component that may be called, with its settings in the copilot that provides the model."""

    component: type[Component]
    caller: Caller
    copilot: LiveCopilot | None = None
    config: Mapping[str, Any] = field(default_factory=dict)


def identify_with_key(key: str | None, user: AskingUser | None = None) -> Caller:
    """Identify the caller; components have no anonymous callers."""
    caller = identify(key, user)
    check_user(caller)
    if caller.key_id is None:
        raise Unauthorized(
            "Components need an API key. Send it as 'Authorization: Bearer KEY' or "
            "'X-API-Key: KEY'."
        )
    return caller


def find(name: str, version: str = LATEST) -> type[Component]:
    component = registry().find(name, version)
    if component is not None:
        return component
    if versions := registry().versions(name):
        raise NotFound(
            f"The component '{name}' has no version '{version}'. It has: {', '.join(versions)}.",
            code="unknown-version",
        )
    raise NotFound(
        f"No component is named '{name}'. GET /v2/components lists those there are.",
        code="unknown-component",
    )


def grant(name: str, version: str, *, key: str | None, caller: Caller, copilot: str = "") -> Grant:
    """Grant the owner of a key the use of a component, or raise `NotFound` or `Forbidden`.

    `copilot` is the slug of the copilot whose model and settings are wanted, "" for any.
    """
    component = find(name, version)
    wanted = admit(copilot, key=key, user=caller.user)[0] if copilot else None
    if caller.copilot_ids is None:
        copilots: Sequence[LiveCopilot] = [wanted] if wanted else []
    else:
        ids = caller.copilot_ids if wanted is None else caller.copilot_ids & {wanted.id}
        copilots = live_copilots(ids)
    uses = list(_uses(copilots, name))
    for one, use in uses:
        pinned = registry().find(name, use.version)
        called = pinned if version in ("", LATEST) and pinned is not None else component
        if _allows(use, called):
            return Grant(component=called, caller=caller, copilot=one, config=use.config)
    if caller.copilot_ids is None:
        return Grant(component=component, caller=caller, copilot=wanted)
    raise Forbidden(_explain_refusal(name, version, copilots, is_used=bool(uses)))


def catalogue(caller: Caller) -> Sequence[type[Component]]:
    """Return every version of every component that a caller may call."""
    if caller.copilot_ids is None:
        return registry().all()
    copilots = live_copilots(caller.copilot_ids)
    uses = [use for name in registry().names() for _, use in _uses(copilots, name)]
    return [one for one in registry().all() if any(_allows(use, one) for use in uses)]


def _uses(copilots: Sequence[LiveCopilot], name: str) -> Iterator[tuple[LiveCopilot, ComponentUse]]:
    for copilot in copilots:
        for use in copilot.answerer.spec.components if copilot.answerer else ():
            if use.name == name:
                yield copilot, use


def _allows(use: ComponentUse, component: type[Component]) -> bool:
    is_version = use.version in ("", LATEST) or registry().find(use.name, use.version) is component
    return use.name == component.name and is_version


def _explain_refusal(
    name: str, version: str, copilots: Sequence[LiveCopilot], *, is_used: bool
) -> str:
    if is_used:
        return (
            f"This key may not call version '{version}' of '{name}': its copilots use another. "
            "Leave the version out."
        )
    if unready := next((one for one in copilots if one.problem), None):
        return (
            f"This key may not call '{name}' now: its copilot '{unready.slug}' is not ready. "
            f"{unready.problem}"
        )
    return (
        f"This key may not call '{name}': no copilot that it is for has the component switched on "
        "in its published version. Use another key, or ask a builder to switch it on."
    )
