"""Steps about availability, key, server URL and discovery documents."""

from urllib.parse import urlsplit

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from copilot_admin.connection_test import values as workspace_words
from copilot_admin.connection_test.documents import (
    DocumentPlace,
    check_status,
    conflicts,
    document,
    entry,
    seen_in,
)
from copilot_admin.connection_test.values import (
    Ask,
    Setup,
    StepFailed,
    StepResult,
    Unreached,
    good,
    warning,
)

_ALIVE = b'{"status": "alive"}'
_HERE = ("localhost", "127.0.0.1", "::1")


async def live(setup: Setup, ask: Ask) -> StepResult:
    """Check that the copilot is published, enabled and able to answer."""
    if setup.problem:
        raise StepFailed(
            _("This copilot isn't available yet. %(why)s") % {"why": setup.problem},
            fix=_("Publish and enable it, or fix the problem shown on its page. Then test again."),
        )
    return good(_("Published and enabled."))


async def key(setup: Setup, ask: Ask) -> StepResult:
    """Check that a key exists, if one is required."""
    if not setup.needs_key:
        return good(_("No API key is required."))
    if not setup.keys:
        raise StepFailed(
            _("An API key is required, but no valid key exists."),
            fix=_("Create a key above, or ask an operator for one."),
        )
    text = ngettext(
        "An API key is required; %(count)d valid key exists.",
        "An API key is required; %(count)d valid keys exist.",
        setup.keys,
    )
    return good(
        text % {"count": setup.keys},
        _("This test uses a temporary pass. Enter a key in Workspace to test the key itself."),
    )


async def address(setup: Setup, ask: Ask) -> StepResult:
    """Check that this server answers at its URL, and that pages over https can use it."""
    try:
        answer = await ask("GET", f"{setup.base}/healthz")
    except Unreached as error:
        text = _("%(base)s can't be reached from this machine. %(why)s")
        raise StepFailed(
            text % {"base": setup.base, "why": error.public},
            workspace=workspace_words.NETWORK,
            fix=_(
                "Set PUBLIC_URL to the URL that users enter. If browsers reach it but this machine "
                "doesn't, test from Workspace itself."
            ),
        ) from error
    check_status(answer)
    if answer.body != _ALIVE:
        raise StepFailed(
            _("Another server answers at this URL."),
            fix=_("Set PUBLIC_URL to the URL of this server."),
            details=seen_in(answer),
        )
    parts = urlsplit(setup.base)
    if parts.scheme != "https" and parts.hostname in _HERE:
        return warning(
            _("%(base)s can only be reached from this machine.") % {"base": setup.base},
            fix=_(
                "Sufficient for testing with Chrome or Edge. Safari and Brave reject plain http. For "
                "other users, serve over https and set PUBLIC_URL."
            ),
        )
    if parts.scheme != "https" and any(one.startswith("https:") for one in setup.origins):
        raise StepFailed(
            _("Workspace uses https and can't call a server over plain http."),
            workspace=workspace_words.NETWORK,
            fix=_("Serve over https and set PUBLIC_URL to that URL."),
        )
    return good(_("%(base)s is reachable (%(ms)d ms).") % {"base": setup.base, "ms": answer.ms})


async def listed(place: DocumentPlace, setup: Setup, ask: Ask) -> StepResult:
    """Check that a discovery document is readable and lists the copilot."""
    found, answer = await document(setup, ask, place)
    await entry(setup, ask, place)
    count = ngettext("%(count)d agent found", "%(count)d agents found", len(found))
    said = count % {"count": len(found)}
    if answer.kind != "application/json":
        return warning(
            _("Served as “%(kind)s”, not as JSON.") % {"kind": answer.kind[:100]},
            fix=_("Configure your proxy to keep the Content-Type header."),
            details=(said,),
        )
    return good(_("Valid JSON that lists this copilot."), said)


async def names(setup: Setup, ask: Ask) -> StepResult:
    """Check that all copilots of the server have different ids and names."""
    found = [(await document(setup, ask, place))[0] for place in DocumentPlace]
    alike = tuple(dict.fromkeys(one for each in found for one in conflicts(each)))
    if alike:
        raise StepFailed(
            _("Two copilots have the same ID or name. Workspace accepts only the first."),
            workspace=workspace_words.CONFLICT,
            fix=_(
                "Give each copilot a unique name (upper and lower case count as equal) and publish."
            ),
            details=alike,
        )
    return good(
        _("All copilots of this server have different IDs and names."),
        _("Workspace also rejects the name of an agent from another server."),
    )
