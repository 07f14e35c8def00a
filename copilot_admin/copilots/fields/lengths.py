"""How long texts may be: longer than anybody reads, shorter than a file pasted by mistake."""

from django.utils.translation import gettext as _

LONGEST_PROMPT = 1_000_000  # characters
LONGEST_DESCRIPTION = (
    10_000  # of which a card shows some 250; every list that Workspace reads has it
)


def prompt_length_fault(text: str) -> str:
    """What is wrong with the length of a prompt, in words; nothing when it is right."""
    return _length_fault(text, most=LONGEST_PROMPT)


def description_length_fault(text: str) -> str:
    """What is wrong with the length of a description, in words; nothing when it is right."""
    return _length_fault(text, most=LONGEST_DESCRIPTION)


def _length_fault(text: str, *, most: int) -> str:
    if len(text) <= most:
        return ""
    return _("has %(length)s characters; %(most)s are the most. Shorten it.") % {
        "length": f"{len(text):,}",
        "most": f"{most:,}",
    }
