"""The steps about the address and the documents in which Workspace finds copilots."""

from urllib.parse import urlsplit

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from copilot_admin.connection_test import values as workspace_words
from copilot_admin.connection_test.documents import (
    DocumentPlace,
    RefusedDocument,
    check_status,
    conflicts,
    document,
    entry,
    seen_in,
)
from copilot_admin.connection_test.values import (
    Ask,
    Setup,
    StepResult,
    StepVerdict,
    Unreached,
    good,
)

_ALIVE = b'{"status": "alive"}'
_HERE = ("localhost", "127.0.0.1", "::1")


async def address(setup: Setup, ask: Ask) -> StepResult:
    """Whether this server answers under its address, and pages over https may ask it."""
    try:
        answer = await ask("GET", f"{setup.base}/healthz")
        check_status(answer)
    except Unreached as error:
        return _away(setup, error)
    except RefusedDocument as refused:
        return refused.result
    if answer.body != _ALIVE:
        return StepResult(
            verdict=StepVerdict.BAD,
            sentence=_("Another server answers under this address."),
            mend=_("Set PUBLIC_URL to the address of this one."),
            details=seen_in(answer),
        )
    return _in_the_clear(setup) or good(
        _("%(base)s reaches this server, in %(ms)d ms.") % {"base": setup.base, "ms": answer.ms}
    )


async def agents(setup: Setup, ask: Ask) -> StepResult:
    """Whether `/agents.json` can be had and read, and holds the copilot."""
    return await _listed(setup, ask, DocumentPlace.AGENTS)


async def copilots(setup: Setup, ask: Ask) -> StepResult:
    """The same for `/copilots.json`, which older versions ask for, and others where it fails."""
    return await _listed(setup, ask, DocumentPlace.COPILOTS)


async def names(setup: Setup, ask: Ask) -> StepResult:
    """Whether Workspace can tell all copilots of the server apart."""
    try:
        found = [(await document(setup, ask, place))[0] for place in DocumentPlace]
    except RefusedDocument as refused:
        return refused.result
    alike = tuple(dict.fromkeys(one for each in found for one in conflicts(each)))
    if alike:
        return StepResult(
            verdict=StepVerdict.BAD,
            sentence=_("Two copilots have one id or one name; Workspace takes only the first."),
            workspace=workspace_words.CONFLICT,
            mend=_("Give each a name of its own, whatever its capitals, and publish."),
            details=alike,
        )
    return good(
        _("No two copilots of this server have the same id or name."),
        _("Workspace also refuses one that has the name of an agent of another server."),
    )


async def _listed(setup: Setup, ask: Ask, place: DocumentPlace) -> StepResult:
    try:
        found, answer = await document(setup, ask, place)
        await entry(setup, ask, place)
    except RefusedDocument as refused:
        return refused.result
    count = ngettext("%(count)d agent found", "%(count)d agents found", len(found))
    said = count % {"count": len(found)}
    if answer.kind != "application/json":
        return StepResult(
            verdict=StepVerdict.WARN,
            sentence=_("It came as “%(kind)s”, not as JSON.") % {"kind": answer.kind[:100]},
            mend=_("Let the proxy pass on the Content-Type of this server."),
            details=(said,),
        )
    return good(_("It is there, is JSON, and holds this copilot."), said)


def _away(setup: Setup, error: Unreached) -> StepResult:
    text = _("%(base)s is not reached from this machine. %(why)s")
    return StepResult(
        verdict=StepVerdict.BAD,
        sentence=text % {"base": setup.base, "why": error.public},
        workspace=workspace_words.NETWORK,
        mend=_(
            "Set PUBLIC_URL to the address that people use. If browsers reach it and this machine "
            "does not, test from Workspace itself."
        ),
    )


def _in_the_clear(setup: Setup) -> StepResult | None:
    parts = urlsplit(setup.base)
    if parts.scheme == "https":
        return None
    if parts.hostname in _HERE:
        return StepResult(
            verdict=StepVerdict.WARN,
            sentence=_("Only a browser on this very machine reaches %(base)s.")
            % {"base": setup.base},
            mend=_(
                "Good enough to try it with Chrome or Edge. Safari and Brave refuse plain http; for "
                "other people, serve over https and set PUBLIC_URL."
            ),
        )
    if not any(origin.startswith("https:") for origin in setup.origins):
        return None
    return StepResult(
        verdict=StepVerdict.BAD,
        sentence=_("Pages over https, as Workspace is, may not ask a server over plain http."),
        workspace=workspace_words.NETWORK,
        mend=_("Serve over https, and set PUBLIC_URL to that address."),
    )
