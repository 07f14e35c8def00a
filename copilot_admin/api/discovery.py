"""`/agents.json` and `/copilots.json`: what Workspace finds on this server."""

from functools import partial
import hashlib
import json

from django.http import HttpRequest, HttpResponse
from ninja import Router

from copilot_admin.api.credentials import key_and_user
from copilot_admin.copilots.cards import visible_cards
from copilot_admin.copilots.door import headers_read
from copilot_admin.edge.public_address import base_url
from copilot_admin.storage.writer import READER
from protocol.json import Json
from protocol.manifest import CopilotCard, agents_json, copilots_json

router = Router(tags=["discovery"])


@router.api_operation(["HEAD"], "/agents.json", include_in_schema=False)
@router.get("/agents.json")
async def agents(request: HttpRequest) -> HttpResponse:
    """The copilots that the caller may use, as protocol generation 3 describes them."""
    cards = await _cards(request)
    return _document(request, agents_json(cards))


@router.api_operation(["HEAD"], "/copilots.json", include_in_schema=False)
@router.get("/copilots.json")
async def copilots(request: HttpRequest) -> HttpResponse:
    """The copilots that the caller may use, as protocol generations 1 and 2 describe them."""
    cards = await _cards(request)
    return _document(request, copilots_json(cards))


async def _cards(request: HttpRequest) -> tuple[CopilotCard, ...]:
    key, user = await key_and_user(request)
    seen = partial(visible_cards, key=key, user=user, base_url=base_url(request))
    return await READER.run(seen)


def _document(request: HttpRequest, document: Json) -> HttpResponse:
    body = json.dumps(document, ensure_ascii=False, indent=2).encode()
    etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    known = {
        tag.strip().removeprefix("W/")
        for tag in request.headers.get("If-None-Match", "").split(",")
    }
    if etag in known:
        response = HttpResponse(status=304)
    else:
        response = HttpResponse(body, content_type="application/json")
    response["ETag"] = etag
    response["Cache-Control"] = "no-cache"
    response["Vary"] = ", ".join(headers_read())
    return response
