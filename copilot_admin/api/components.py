"""`/v2/components`: which components there are, and calling them over HTTP."""

from functools import partial
from typing import Any, NoReturn

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from ninja import Router

from copilot_admin.agent.components.base import Component
from copilot_admin.agent.components.registry import LATEST
from copilot_admin.api.component_requests import MANIFEST, TOOL_EVAL, carry_out, document
from copilot_admin.api.credentials import key_and_user
from copilot_admin.api.documentation import (
    CALL_DOCUMENTATION,
    CATALOGUE_DOCUMENTATION,
    MANIFEST_DOCUMENTATION,
)
from copilot_admin.component_calls.access import catalogue, grant, identify_with_key
from copilot_admin.copilots.end_users import AskingUser
from copilot_admin.errors import NotFound
from copilot_admin.http.auth_throttle import look_up_key
from copilot_admin.storage.writer import READER

router = Router(tags=["components"])
LIST, NEWEST = "/components", "/components/{component}"
ONE = "/components/{component}/version/{version}"
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")


@router.get(LIST, openapi_extra=CATALOGUE_DOCUMENTATION)
async def components(request: HttpRequest) -> HttpResponse:
    """The components that the key may call, each with its versions and its manifests."""
    key, user = await key_and_user(request)
    address = request.META.get("REMOTE_ADDR", "")
    found = await READER.run(partial(look_up_key, partial(_listed, key, user), address))
    return document([_entry(versions) for versions in found])


@router.get(ONE, openapi_extra=MANIFEST_DOCUMENTATION)
async def manifest(request: HttpRequest, component: str, version: str) -> HttpResponse:
    """Input schema of a component, as models get it."""
    return await _manifest(request, component, version)


@router.post(NEWEST, openapi_extra=CALL_DOCUMENTATION)
async def call_newest(
    request: HttpRequest, component: str, action: str = TOOL_EVAL
) -> HttpResponseBase:
    """Calls the newest version of a component, or the one that the key's copilot has pinned."""
    return await _act(request, component, LATEST, action)


@router.post(ONE, openapi_extra=CALL_DOCUMENTATION)
async def call_version(
    request: HttpRequest, component: str, version: str, action: str = TOOL_EVAL
) -> HttpResponseBase:
    """Calls one version of a component; `latest` is the newest."""
    return await _act(request, component, version, action)


@router.api_operation(list(_METHODS), "/components/", include_in_schema=False)
async def refuse_no_name(request: HttpRequest) -> None:
    """Refuses a call that names no component: the list has no slash at its end."""
    _refuse_address()


@router.api_operation(list(_METHODS), "/components/{path:rest}", include_in_schema=False)
async def refuse_address(request: HttpRequest, rest: str) -> None:
    """Programs that take a wrong address read the same errors as everywhere here."""
    _refuse_address()


def _refuse_address() -> NoReturn:
    raise NotFound(
        "There is nothing at this address. POST /v2/components/NAME/version/VERSION calls a "
        "component, GET /v2/components lists them.",
        code="unknown-address",
    )


async def _act(request: HttpRequest, name: str, version: str, action: str) -> HttpResponseBase:
    if action == MANIFEST:
        return await _manifest(request, name, version)
    return await carry_out(request, name, version, action=action)


async def _manifest(request: HttpRequest, name: str, version: str) -> HttpResponse:
    key, user = await key_and_user(request)
    granted = partial(_granted, key, user, name, version)
    address = request.META.get("REMOTE_ADDR", "")
    component = await READER.run(partial(look_up_key, granted, address))
    return document({"name": component.name, "version": component.version, **_about(component)})


def _granted(key: str | None, user: AskingUser | None, name: str, version: str) -> type[Component]:
    caller = identify_with_key(key, user)
    return grant(name, version, key=key, caller=caller).component


def _listed(key: str | None, user: AskingUser | None) -> list[list[type[Component]]]:
    by_name: dict[str, list[type[Component]]] = {}
    for component in catalogue(identify_with_key(key, user)):
        by_name.setdefault(component.name, []).append(component)
    return list(by_name.values())


def _entry(versions: list[type[Component]]) -> dict[str, Any]:
    newest = versions[-1]
    return {
        "name": newest.name,
        "version": newest.version,
        "versions": [one.version for one in versions],
        **_about(newest),
    }


def _about(component: type[Component]) -> dict[str, Any]:
    return {
        "description": component.description(),
        "manifests": [dict(manifest) for manifest in component.manifests],
    }
