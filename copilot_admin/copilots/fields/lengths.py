"""How long a prompt may be: longer than any model reads, shorter than a file pasted by mistake."""

from django.utils.translation import gettext as _

LONGEST_PROMPT = 1_000_000  # characters


def prompt_length_fault(text: str) -> str:
    """What is wrong with the length of a prompt, in words; nothing when it is right."""
    if len(text) <= LONGEST_PROMPT:
        return ""
    return _("has %(length)s characters; %(most)s are the most. Shorten it.") % {
        "length": f"{len(text):,}",
        "most": f"{LONGEST_PROMPT:,}",
    }
