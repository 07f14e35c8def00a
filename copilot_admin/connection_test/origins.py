"""The step about pages of other origins: browsers ask first, with `OPTIONS`, whether they may."""

import asyncio
from collections.abc import Mapping
from http import HTTPStatus

from django.utils.translation import gettext as _

from copilot_admin.connection_test import values as workspace_words
from copilot_admin.connection_test.documents import DocumentPlace
from copilot_admin.connection_test.values import (
    Answer,
    Ask,
    Setup,
    StepResult,
    StepVerdict,
    Unreached,
    good,
)

STRANGER = "https://stranger.invalid"
SENT = ("content-type", "x-trace-id", "x-api-key", "authorization")
EXPOSED = ("x-trace-id", "x-completion-id")


async def origins(setup: Setup, ask: Ask) -> StepResult:
    """Whether the pages that are allowed get what they ask for, and a stranger does not."""
    wanted = dict.fromkeys((*setup.origins, *filter(None, [setup.extra_origin])))
    found = await asyncio.gather(*(_faults_of(origin, setup, ask) for origin in wanted))
    bad = tuple(f"{origin}: {fault}" for origin, fault in zip(wanted, found, strict=True) if fault)
    if bad:
        return StepResult(
            verdict=StepVerdict.BAD,
            sentence=_("Not every page may ask this server."),
            workspace=workspace_words.CORS,
            mend=_mend(setup),
            details=bad,
        )
    if not await _faults_of(STRANGER, setup, ask):
        return StepResult(
            verdict=StepVerdict.WARN,
            sentence=_("Pages of any origin may ask this server."),
            mend=_("Let the proxy add no Access-Control headers of its own."),
        )
    return good(
        _("Each of these pages may ask, with x-trace-id and the key; others may not."), *wanted
    )


def _mend(setup: Setup) -> str:
    if setup.extra_origin and setup.extra_origin not in setup.origins:
        text = _("Have %(origin)s allowed in “The pages that may ask” above.")
        return text % {"origin": setup.extra_origin}
    return _(
        "Let the proxy pass OPTIONS on, and the headers that begin with Access-Control; it must add "
        "none of its own."
    )


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
    return _answer_fault(answer, origin)


async def _preflight_fault(address: str, method: str, origin: str, setup: Setup, ask: Ask) -> str:
    sent = sorted({*SENT, *(name.lower() for name in setup.headers)})
    asked = {
        "Origin": origin,
        "Access-Control-Request-Method": method,
        "Access-Control-Request-Headers": ",".join(sent),
    }
    answer = await ask("OPTIONS", address, headers=asked)
    if not HTTPStatus.OK <= answer.status < HTTPStatus.MULTIPLE_CHOICES:
        return _("OPTIONS is answered with %(status)d.") % {"status": answer.status}
    if not _is_allowed(answer.headers, origin):
        return _("it is not an allowed origin.")
    missing = set(sent) - _listed(answer.headers, "access-control-allow-headers")
    if missing:
        return _("may not send %(names)s.") % {"names": ", ".join(sorted(missing))}
    return ""  # GET and POST are allowed everywhere, whatever the answer lists


def _answer_fault(answer: Answer, origin: str) -> str:
    if not _is_allowed(answer.headers, origin):
        return _("the answer itself comes without leave to be read.")
    if set(EXPOSED) - _listed(answer.headers, "access-control-expose-headers"):
        return _("may not read X-Trace-Id and X-Completion-Id.")
    return ""


def _is_allowed(headers: Mapping[str, str], origin: str) -> bool:
    return headers.get("access-control-allow-origin") in (origin, "*")


def _listed(headers: Mapping[str, str], name: str) -> set[str]:
    return {one.strip().lower() for one in headers.get(name, "").split(",")}
