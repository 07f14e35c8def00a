"""`/agents.json` and `/copilots.json`: what Workspace finds on this server."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
import hashlib
import json
from typing import TypeAlias

from django.http import HttpRequest, HttpResponse
from ninja import Router

from copilot_admin.api.credentials import key_and_user
from copilot_admin.api.shared_reading import SharedReading
from copilot_admin.copilots.cards import visible_cards
from copilot_admin.copilots.credentials import headers_read
from copilot_admin.copilots.end_users import AskingUser
from copilot_admin.http.auth_throttle import look_up_key
from copilot_admin.http.origins import get_base_url
from protocol.json import Json
from protocol.manifest import CopilotCard, agents_json, copilots_json

Generation: TypeAlias = Callable[[Iterable[CopilotCard]], dict[str, Json]]

router = Router(tags=["discovery"])


@router.api_operation(["HEAD"], "/agents.json", include_in_schema=False)
@router.get("/agents.json")
async def agents(request: HttpRequest) -> HttpResponse:
    """The copilots that the caller may use, as protocol generation 3 describes them."""
    return await _answer(request, agents_json)


@router.api_operation(["HEAD"], "/copilots.json", include_in_schema=False)
@router.get("/copilots.json")
async def copilots(request: HttpRequest) -> HttpResponse:
    """The copilots that the caller may use, as protocol generations 1 and 2 describe them."""
    return await _answer(request, copilots_json)


@dataclass(frozen=True, slots=True)
class _Document:
    """Response shared by all callers with the same access."""

    body: bytes
    etag: str


_DOCUMENTS = SharedReading[_Document]()


async def _answer(request: HttpRequest, generation: Generation) -> HttpResponse:
    key, user = await key_and_user(request)
    address = request.META.get("REMOTE_ADDR", "")
    asked = (generation, key, user, get_base_url(request))
    document = await _DOCUMENTS.of(asked, partial(look_up_key, partial(_read, *asked), address))
    known = {
        tag.strip().removeprefix("W/")
        for tag in request.headers.get("If-None-Match", "").split(",")
    }
    if document.etag in known:
        response = HttpResponse(status=304)
    else:
        response = HttpResponse(document.body, content_type="application/json")
    response["ETag"] = document.etag
    response["Cache-Control"] = "no-cache"
    response["Vary"] = ", ".join(headers_read())
    return response


def _read(generation: Generation, key: str | None, user: AskingUser | None, base: str) -> _Document:
    cards = visible_cards(key=key, user=user, base_url=base)
    body = json.dumps(generation(cards), ensure_ascii=False, indent=2).encode()
    return _Document(body, f'"{hashlib.sha256(body).hexdigest()[:32]}"')
