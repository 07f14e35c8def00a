"""`GET /v1/copilots/<slug>/image`: the image of a copilot, uploaded or fetched, for everybody."""

from functools import partial

from django.core.files.storage import default_storage
from django.http import HttpRequest, HttpResponse
from ninja import Router

from copilot_admin.copilots.images import stored_image
from copilot_admin.errors import NotFound
from copilot_admin.models import Copilot
from copilot_admin.storage.writer import READER

router = Router(tags=["copilots"])
# A new image has a new name in a new version; a minute is how long an old one may be seen.
CACHE = "public, max-age=60"
SANDBOX = "default-src 'none'; sandbox"


@router.api_operation(["HEAD"], "/copilots/{slug}/image", include_in_schema=False)
@router.get("/copilots/{slug}/image")
async def image(request: HttpRequest, slug: str) -> HttpResponse:
    """The image of the live version; it was decoded and written anew as PNG when it came."""
    data = await READER.run(partial(_image_of, slug))
    response = HttpResponse(data, content_type="image/png")
    response["Cache-Control"] = CACHE
    response["Content-Security-Policy"] = SANDBOX
    response["Content-Disposition"] = f'inline; filename="{slug}.png"'
    return response


def _image_of(slug: str) -> bytes:
    copilot = Copilot.objects.published().filter(slug=slug).first()
    image = str(copilot.live.document.get("image", "")) if copilot and copilot.live else ""
    name = stored_image(image)
    if not name or not default_storage.exists(name):
        raise NotFound(f"No published copilot named '{slug}' has an image on this server.")
    with default_storage.open(name) as file:
        data: bytes = file.read()
    return data
