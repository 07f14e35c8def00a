"""Checks of texts: their length, and invisible signs that turn their direction."""

from django.utils.translation import gettext as _

LONGEST_PROMPT = 1_000_000  # characters
LONGEST_DESCRIPTION = 10_000  # a card shows some 250
# Embeddings, overrides and isolates. Source: Unicode Standard Annex 9, table 4. The marks (U+200E,
# U+200F, U+061C) only help a neighbour, and are written in Arabic and Hebrew.
TURNING_SIGNS = frozenset(map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A))))


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


def without_turning_signs(text: str) -> str:
    """The text without them, where there is nobody to ask: of a note, it is what was meant."""
    return "".join(sign for sign in text if sign not in TURNING_SIGNS)


def first_turning_sign(text: str) -> str:
    """The code point of the first of them in a text, as four digits; nothing where there is none."""
    return next((f"{ord(sign):04X}" for sign in text if sign in TURNING_SIGNS), "")


def turning_sign_fault(text: str) -> str:
    """What is wrong with a text that hides its own order; nothing when it does not."""
    found = first_turning_sign(text)
    if not found:
        return ""
    return _(
        "the invisible sign U+%(code)s turns the direction of the text. Take it out: what follows "
        "it would be shown in another order than it has."
    ) % {"code": found}
