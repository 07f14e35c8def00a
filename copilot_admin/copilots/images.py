"""Images of copilots: uploaded, or copied from the web; both are decoded and written as PNG.

A document holds the URL alone, so that an imported file is exported as it came. The copy may be
missing: an import needs no network, and an image that can't be fetched stays a link.
"""

import asyncio
from collections.abc import Iterable, Sequence
import hashlib

from asgiref.sync import async_to_sync
from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from copilot_admin.agent.documents.document import UnreadableFile
from copilot_admin.agent.fetching.egress import Egress, FetchFailed
from copilot_admin.agent.files import file_reader
from copilot_admin.errors import ConfigurationError

MAX_BYTES = 1024 * 1024
COPIES = "copilots/remote/"  # folder in the storage
FETCH_TIMEOUT_SECONDS = 4.0  # a page waits
MAX_CONCURRENT = 8


def harmless_png(data: bytes) -> bytes:
    """Return a PNG of the same picture with nothing but its pixels; blocks."""
    if len(data) > MAX_BYTES:
        raise ConfigurationError(
            f"The image has {len(data) / MAX_BYTES:.1f} MB. The limit is 1 MB."
        )
    try:
        return asyncio.run(file_reader.harmless_png(data))
    except UnreadableFile as error:
        raise ConfigurationError(error.public) from error


def picture_name(png: bytes) -> str:
    """Return a name that is the same for the same picture, so that importing it changes nothing."""
    return f"copilots/{hashlib.sha256(png).hexdigest()[:32]}.png"


def store_picture(png: bytes) -> str:
    """Store a picture unless it is there, and return its name."""
    name = picture_name(png)
    if not default_storage.exists(name):
        default_storage.save(name, ContentFile(png))
    return name


def is_url(image: str) -> bool:
    return image.startswith(("https://", "http://"))


def copy_of(url: str) -> str:
    """Return the name of the copy in the storage; empty if there is none."""
    name = _copy_name(url)
    return name if is_url(url) and default_storage.exists(name) else ""


def stored_image(image: str) -> str:
    """Return the name of a document's image in the storage; empty if only its URL is known."""
    return copy_of(image) if is_url(image) else image


def is_stored(image: str) -> bool:
    name = stored_image(image)
    return not image or (bool(name) and default_storage.exists(name))


def fetch_copies(urls: Iterable[str]) -> dict[str, str]:
    """Copy the images that aren't stored yet, outside of transactions; return failures by URL."""
    wanted = [one for one in dict.fromkeys(urls) if is_url(one) and not copy_of(one)]
    problems: dict[str, str] = {}
    for url, png in zip(wanted, async_to_sync(_fetch_all)(wanted) if wanted else (), strict=True):
        if isinstance(png, bytes):
            default_storage.save(_copy_name(url), ContentFile(png))
        else:
            problems[url] = png.detail if isinstance(png, FetchFailed) else png.public
    return problems


async def _fetch_all(urls: Sequence[str]) -> list[bytes | FetchFailed | ConfigurationError]:
    egress = Egress(settings.FETCH_ALLOW, seconds=FETCH_TIMEOUT_SECONDS, most_bytes=MAX_BYTES)
    slots = asyncio.Semaphore(MAX_CONCURRENT)

    async def fetch(url: str) -> bytes | FetchFailed | ConfigurationError:
        try:
            async with slots, egress.fetch(url) as data:
                return await asyncio.to_thread(harmless_png, data)
        except (FetchFailed, ConfigurationError) as error:
            return error

    return await asyncio.gather(*map(fetch, urls))


def _copy_name(url: str) -> str:
    return f"{COPIES}{hashlib.sha256(url.encode('utf-8', 'replace')).hexdigest()[:32]}.png"
