"""What is wrong with JSON that a person wrote or chose, in that person's words."""

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from protocol.strict_json import MalformedJson

_SENTENCES: Mapping[str, Promise] = {
    "not-utf8": gettext_lazy("It is not encoded as UTF-8. Save it as UTF-8."),
    "number-too-large": gettext_lazy(
        "A number is too large for a computer (above 1.8e308). Write it as text, in quotes."
    ),
    "not-a-number": gettext_lazy("NaN and Infinity are no numbers of JSON. Write null instead."),
    "too-many-tokens": gettext_lazy("It holds too many values. Leave some out."),
    "duplicate-key": gettext_lazy("A name stands twice in one object. Keep one of them."),
    "too-deep": gettext_lazy("It is nested too deeply. Write it flatter."),
}


def json_fault(error: ValueError) -> str:
    """A sentence or two about what cannot be read, with its place and what to do.

    Args:
        error: A `MalformedJson`, or of a text that cannot be written as UTF-8.
    """
    if not isinstance(error, MalformedJson):
        return _("It holds half a character. Write it anew.")
    if error.place is None:
        return str(_SENTENCES.get(error.code, error.public))
    line, column = error.place
    return _(
        "It cannot be read at line %(line)d, column %(column)d. Names and texts stand in double "
        "quotes, with a comma between two entries and none behind the last."
    ) % {"line": line, "column": column}
