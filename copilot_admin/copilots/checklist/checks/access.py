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
        sentence = _("The copilot is disabled. Enable it so that users can see it.")
        yield warning("enabled", sentence)


@Check
def no_key(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """Questions without a key are refused, and there is no key."""
    if facts.access is Access.KEY and not facts.keys:
        sentence = _(
            "An API key is required, and no valid key exists. Create a key, or change who can use "
            "the copilot."
        )
        yield warning("access", sentence)
