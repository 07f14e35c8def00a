"""Images of copilots on the web: fetched once, written anew, and kept under their address.

A copilot's document holds the address alone, so that a file that was imported is exported as it
came. Whoever shows the image asks here for the copy. There may be none: an import needs no
network, and what cannot be fetched stays a link.
"""

import asyncio
from collections.abc import Iterable, Sequence
import hashlib

from asgiref.sync import async_to_sync
from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from copilot_admin.agent.fetching.egress import Egress, FetchFailed
from copilot_admin.copilots.uploaded_images import MOST_BYTES, harmless_png
from copilot_admin.errors import ConfigurationError

FOLDER = "copilots/remote/"
SECONDS = 4.0  # somebody has pressed a button and waits
AT_ONCE = 8


def is_address(image: str) -> bool:
    return image.startswith(("https://", "http://"))


def copy_of(address: str) -> str:
    """The name of the kept copy in the storage; empty when there is none."""
    name = _name_of(address)
    return name if is_address(address) and default_storage.exists(name) else ""


def stored_image(image: str) -> str:
    """Where a document's image is in the storage; empty when only its address is known."""
    return copy_of(image) if is_address(image) else image


def is_kept(image: str) -> bool:
    name = stored_image(image)
    return not image or (bool(name) and default_storage.exists(name))


def fetch_copies(addresses: Iterable[str]) -> dict[str, str]:
    """Fetches the images that are not kept yet, all at once; must not be called in a transaction.

    Returns:
        Why, for each address whose image could not be had.
    """
    wanted = [one for one in dict.fromkeys(addresses) if is_address(one) and not copy_of(one)]
    problems: dict[str, str] = {}
    found = async_to_sync(_fetch_all)(wanted) if wanted else ()
    for address, png in zip(wanted, found, strict=True):
        if isinstance(png, bytes):
            default_storage.save(_name_of(address), ContentFile(png))
        else:
            problems[address] = png.detail if isinstance(png, FetchFailed) else png.public
    return problems


async def _fetch_all(
    addresses: Sequence[str],
) -> list[bytes | FetchFailed | ConfigurationError]:
    egress = Egress(settings.FETCH_ALLOW, seconds=SECONDS, most_bytes=MOST_BYTES)
    slots = asyncio.Semaphore(AT_ONCE)

    async def fetched(address: str) -> bytes | FetchFailed | ConfigurationError:
        try:
            async with slots, egress.fetch(address) as data:
                return await asyncio.to_thread(harmless_png, data)
        except (FetchFailed, ConfigurationError) as error:
            return error

    return await asyncio.gather(*map(fetched, addresses))


def _name_of(address: str) -> str:
    return f"{FOLDER}{hashlib.sha256(address.encode('utf-8', 'replace')).hexdigest()[:32]}.png"
