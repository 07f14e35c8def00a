"""What is wrong with an own expression: it is tried before it is kept, in another process, with an end."""

import re
import warnings

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from copilot_admin.redaction.own import NotFound, finds_nothing_as_well
from copilot_admin.redaction.rules import LONGEST_EXPRESSION


def expression_fault(expression: str) -> str | Promise:
    """What is wrong with an own expression; nothing when it is right. Blocks for some milliseconds.

    Some never come to an end, even on a text without a letter, and one that is being looked for here
    would hold the whole server.
    """
    if len(expression) > LONGEST_EXPRESSION:
        return _("An expression has %(most)d characters at most.") % {"most": LONGEST_EXPRESSION}
    try:
        with warnings.catch_warnings(action="ignore"):
            re.compile(expression)
    except (re.error, RecursionError, OverflowError):
        return _(
            "It is no regular expression of Python. Write one such as CUST-[0-9]{6}, and put a "
            "backslash before a sign that is meant as it is."
        )
    try:
        if finds_nothing_as_well(expression):
            return _("It finds nothing as well: every text would be full of it.")
    except NotFound:
        return _(
            "On an empty text it does not come to an end within a second. Repeat less in it, or "
            "try again."
        )
    return ""
