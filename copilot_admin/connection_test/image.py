"""The step about the image: it is loaded as an `<img>` does, so no origin has to be allowed."""

import asyncio

from django.conf import settings
from django.utils.translation import gettext as _

from copilot_admin.agent.fetching.egress import Egress, FetchFailed
from copilot_admin.connection_test.asking import is_within
from copilot_admin.connection_test.documents import DocumentPlace, RefusedDocument, entry
from copilot_admin.connection_test.values import (
    Ask,
    Setup,
    StepResult,
    StepVerdict,
    Unreached,
    good,
)
from copilot_admin.copilots.uploaded_images import MOST_BYTES, harmless_png
from copilot_admin.errors import ConfigurationError

SECONDS = 8.0


async def image(setup: Setup, ask: Ask) -> StepResult:
    """Whether the image loads, and is one."""
    try:
        address = str((await entry(setup, ask, DocumentPlace.AGENTS)).get("image", ""))
    except RefusedDocument as refused:
        return refused.result
    if not address:
        return good(_("It has no image; Workspace shows a letter in its place."))
    try:
        data = await _loaded(address, setup, ask)
        await asyncio.to_thread(harmless_png, data)
    except FetchFailed as error:
        return _not_loaded(error.detail, address)
    except (Unreached, ConfigurationError) as error:
        return _not_loaded(error.public, address)
    return good(_("The image loads: %(size)d kB.") % {"size": len(data) // 1024 + 1}, address)


def _not_loaded(why: str, address: str) -> StepResult:
    return StepResult(
        verdict=StepVerdict.WARN,
        sentence=_("The image does not load. %(why)s") % {"why": why},
        mend=_("Upload an image, or correct its address, and publish. All else works."),
        details=(address,),
    )


async def _loaded(address: str, setup: Setup, ask: Ask) -> bytes:
    if not is_within(address, setup.base):
        egress = Egress(settings.FETCH_ALLOW, seconds=SECONDS, most_bytes=MOST_BYTES)
        async with egress.fetch(address) as data:
            return bytes(data)
    answer = await ask("GET", address, seconds=SECONDS)
    if answer.status != 200 or not answer.kind.startswith("image/"):
        text = _("The server answered %(status)d with “%(kind)s”.")
        raise Unreached(text % {"status": answer.status, "kind": answer.kind[:100]})
    return answer.body
