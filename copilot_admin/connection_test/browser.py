"""Steps about what browsers load and allow: the image, and CORS."""

import asyncio
from collections.abc import Mapping
from http import HTTPStatus

from django.conf import settings
from django.utils.translation import gettext as _

from copilot_admin.agent.fetching.egress import Egress, FetchFailed
from copilot_admin.connection_test import values as workspace_words
from copilot_admin.connection_test.client import is_within
from copilot_admin.connection_test.documents import DocumentPlace, entry
from copilot_admin.connection_test.values import (
    Ask,
    Setup,
    StepFailed,
    StepResult,
    Unreached,
    good,
    warning,
)
from copilot_admin.copilots.images import MAX_BYTES, harmless_png
from copilot_admin.errors import ConfigurationError

SECONDS = 8.0
STRANGER = "https://stranger.invalid"
SENT = ("content-type", "x-trace-id", "x-api-key", "authorization")
EXPOSED = ("x-trace-id", "x-completion-id")


async def image(setup: Setup, ask: Ask) -> StepResult:
    """Check that the image loads as in an `<img>` element, so without CORS."""
    address = (await entry(setup, ask, DocumentPlace.AGENTS)).image
    if not address:
        return good(_("No image. Workspace shows a letter instead."))
    try:
        data = await _loaded(address, setup, ask)
        await asyncio.to_thread(harmless_png, data)
    except (FetchFailed, Unreached, ConfigurationError) as error:
        why = error.detail if isinstance(error, FetchFailed) else error.public
        return warning(
            _("The image can't be loaded. %(why)s") % {"why": why},
            fix=_("Upload an image or correct its URL, then publish. Everything else works."),
            details=(address,),
        )
    return good(_("The image loads (%(size)d kB).") % {"size": len(data) // 1024 + 1}, address)


async def _loaded(address: str, setup: Setup, ask: Ask) -> bytes:
    if not is_within(address, setup.base):
        egress = Egress(settings.FETCH_ALLOW, seconds=SECONDS, most_bytes=MAX_BYTES)
        async with egress.fetch(address) as data:
            return bytes(data)
    answer = await ask("GET", address, seconds=SECONDS)
    if answer.status != 200 or not answer.kind.startswith("image/"):
        text = _("The server returned status %(status)d with “%(kind)s”.")
        raise Unreached(text % {"status": answer.status, "kind": answer.kind[:100]})
    return answer.body


async def origins(setup: Setup, ask: Ask) -> StepResult:
    """Check that allowed origins can call this server, and that others can't."""
    wanted = dict.fromkeys((*setup.origins, *filter(None, [setup.extra_origin])))
    found = await asyncio.gather(*(_faults_of(origin, setup, ask) for origin in wanted))
    bad = tuple(f"{origin}: {fault}" for origin, fault in zip(wanted, found, strict=True) if fault)
    if bad:
        raise StepFailed(
            _("CORS blocks an origin."),
            workspace=workspace_words.CORS,
            fix=_("Add %(origin)s to the allowed origins above.") % {"origin": setup.extra_origin}
            if setup.extra_origin not in ("", *setup.origins)
            else _(
                "Configure your proxy to forward OPTIONS requests and Access-Control headers, and to "
                "add none."
            ),
            details=bad,
        )
    if not await _faults_of(STRANGER, setup, ask):
        return warning(
            _("Every origin is allowed."),
            fix=_("Configure your proxy not to add Access-Control headers."),
        )
    return good(_("These origins can send X-Trace-Id and the key; others are blocked."), *wanted)


async def _faults_of(origin: str, setup: Setup, ask: Ask) -> str:
    agents = f"{setup.base}{DocumentPlace.AGENTS}"
    query = f"{setup.base}/v1/copilots/{setup.slug}/query"
    try:
        for address, method in ((agents, "GET"), (query, "POST")):
            if fault := await _preflight_fault(address, method, origin, setup, ask):
                return fault
        given = {"Origin": origin, "X-API-Key": setup.key}
        answer = await ask("GET", agents, headers=given)
    except Unreached as error:
        return error.public
    if not _is_allowed(answer.headers, origin):
        return _("the response has no CORS headers.")
    if set(EXPOSED) - _listed(answer.headers, "access-control-expose-headers"):
        return _("can't read X-Trace-Id and X-Completion-Id.")
    return ""


async def _preflight_fault(address: str, method: str, origin: str, setup: Setup, ask: Ask) -> str:
    sent = sorted({*SENT, *(name.lower() for name in setup.headers)})
    asked = {
        "Origin": origin,
        "Access-Control-Request-Method": method,
        "Access-Control-Request-Headers": ",".join(sent),
    }
    answer = await ask("OPTIONS", address, headers=asked)
    if not HTTPStatus.OK <= answer.status < HTTPStatus.MULTIPLE_CHOICES:
        return _("OPTIONS returns status %(status)d.") % {"status": answer.status}
    if not _is_allowed(answer.headers, origin):
        return _("not an allowed origin.")
    missing = set(sent) - _listed(answer.headers, "access-control-allow-headers")
    if missing:
        return _("can't send %(names)s.") % {"names": ", ".join(sorted(missing))}
    return ""  # GET and POST are allowed everywhere, whatever the answer lists


def _is_allowed(headers: Mapping[str, str], origin: str) -> bool:
    return headers.get("access-control-allow-origin") in (origin, "*")


def _listed(headers: Mapping[str, str], name: str) -> set[str]:
    return {one.strip().lower() for one in headers.get(name, "").split(",")}
