"""Why nobody could ask what is published."""

from collections.abc import Iterator

from django.utils.translation import gettext as _

from copilot_admin.copilots.checklist.check import Check
from copilot_admin.copilots.checklist.finding import Finding, warning
from copilot_admin.copilots.checklist.subject import DraftContent, DraftFacts
from copilot_admin.models import Access


@Check
def switched_off(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """A copilot that is switched off: it is in no list and answers nobody."""
    if not facts.enabled:
        sentence = _("It is switched off, so nobody sees it until it is enabled.")
        yield warning("enabled", sentence)


@Check
def no_key(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """Questions without a key are refused, and there is no key."""
    if facts.access is Access.KEY and not facts.keys:
        sentence = _(
            "Only callers with a key may ask, and no valid key opens it. Make a key, or let "
            "everybody ask."
        )
        yield warning("access", sentence)
