"""`/agents.json` and `/copilots.json`, which Workspace reads, and the images of copilots."""

from collections.abc import Callable, Iterable
from functools import partial
import hashlib
import json
from typing import TypeAlias

from django.core.files.storage import default_storage
from django.http import HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response
from ninja import Router

from copilot_admin.api.credentials import read_as_caller
from copilot_admin.copilots.end_users import AskingUser, headers_read
from copilot_admin.copilots.images import stored_image
from copilot_admin.copilots.live import visible_cards
from copilot_admin.errors import NotFound
from copilot_admin.http.middleware import get_base_url
from copilot_admin.models import Copilot
from copilot_admin.storage.writer import READER
from protocol.features import CopilotCard, agents_json, copilots_json
from protocol.json import Json

Generation: TypeAlias = Callable[[Iterable[CopilotCard]], dict[str, Json]]

router = Router(tags=["discovery"])
images = Router(tags=["copilots"])
# A new image has a new name in a new version; a minute is how long an old one may be seen.
CACHE = "public, max-age=60"
SANDBOX = "default-src 'none'; sandbox"


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


async def _answer(request: HttpRequest, generation: Generation) -> HttpResponse:
    base = get_base_url(request)

    def read(key: str | None, user: AskingUser | None) -> bytes:
        cards = visible_cards(key=key, user=user, base_url=base)
        return json.dumps(generation(cards), ensure_ascii=False, indent=2).encode()

    body = await read_as_caller(request, read)
    response = HttpResponse(body, content_type="application/json")
    response["ETag"] = etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    response["Cache-Control"] = "no-cache"
    response["Vary"] = ", ".join(headers_read())
    found = get_conditional_response(request, etag=etag, response=response)
    assert isinstance(found, HttpResponse)  # noqa: S101  # this one, or an empty one
    return found


@images.api_operation(["HEAD"], "/copilots/{slug}/image", include_in_schema=False)
@images.get("/copilots/{slug}/image")
async def image(request: HttpRequest, slug: str) -> HttpResponse:
    """The image of the live version, for everybody; it was written again as PNG when it came."""
    data = await READER.run(partial(_read_image, slug))
    response = HttpResponse(data, content_type="image/png")
    response["Cache-Control"] = CACHE
    response["Content-Security-Policy"] = SANDBOX
    response["Content-Disposition"] = f'inline; filename="{slug}.png"'
    return response


def _read_image(slug: str) -> bytes:
    copilot = Copilot.objects.published().filter(slug=slug).first()
    image = str(copilot.live.document.get("image", "")) if copilot and copilot.live else ""
    name = stored_image(image)
    if not name or not default_storage.exists(name):
        raise NotFound(f"No published copilot named '{slug}' has an image on this server.")
    with default_storage.open(name) as file:
        data: bytes = file.read()
    return data
