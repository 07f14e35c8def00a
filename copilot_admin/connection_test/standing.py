"""The steps that need no network: whether the copilot is live, and whether somebody has a key."""

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from copilot_admin.connection_test.values import Ask, Setup, StepResult, StepVerdict, good


async def live(setup: Setup, ask: Ask) -> StepResult:
    """Whether the copilot is published, on and able to answer."""
    if setup.problem:
        return StepResult(
            verdict=StepVerdict.BAD,
            sentence=_("Nobody gets this copilot now. %(why)s") % {"why": setup.problem},
            mend=_("Publish it, switch it on, or mend what its page names. Then test again."),
        )
    return good(_("It is published and switched on."))


async def key(setup: Setup, ask: Ask) -> StepResult:
    """Whether there is a key that opens it, if it wants one."""
    if not setup.needs_key:
        return good(_("It answers everybody: no key is needed."))
    if not setup.keys:
        return StepResult(
            verdict=StepVerdict.BAD,
            sentence=_("It wants a key, and there is none that opens it."),
            mend=_("Make a key above, or ask an operator for one."),
        )
    text = ngettext(
        "It wants a key; one valid key opens it.",
        "It wants a key; %(count)d valid keys open it.",
        setup.keys,
    )
    return good(
        text % {"count": setup.keys},
        _("The steps below use a pass of their own: enter a key in Workspace to test that one."),
    )
