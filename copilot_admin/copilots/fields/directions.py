"""Signs that turn the direction of text: in a name they show another one than it is."""

from django.utils.translation import gettext as _

# Embeddings, overrides and isolates. Source: Unicode Standard Annex 9, table 4. The marks (U+200E,
# U+200F, U+061C) only help a neighbour, and are written in Arabic and Hebrew.
TURNING_SIGNS = frozenset(map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A))))


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
