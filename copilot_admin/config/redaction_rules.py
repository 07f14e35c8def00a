"""What every copilot takes out of what is stored, as the environment says it."""

from collections.abc import Sequence
import json
import re

from copilot_admin.config.env import BadSetting


def redaction_rules(
    kinds: Sequence[str], expressions: str, *, known: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Kinds and own expressions.

    Args:
        kinds: The items of `COPILOT_REDACT`.
        expressions: A JSON list of regular expressions; empty: none.
        known: The kinds there are.

    Raises:
        BadSetting: A kind is not known, or an expression is none.
    """
    for kind in kinds:
        if kind not in known:
            raise BadSetting(f"COPILOT_REDACT: {kind!r} is no kind. Use: {', '.join(known)}.")
    return tuple(kinds), _expressions(expressions)


def _expressions(text: str) -> tuple[str, ...]:
    try:
        listed = json.loads(text) if text else []
        if not isinstance(listed, list):
            raise ValueError("it is no list")
        for expression in listed:
            re.compile(expression)
    except (ValueError, TypeError, RecursionError, re.error) as error:
        raise BadSetting(
            "COPILOT_REDACT_EXPRESSIONS is a JSON list of regular expressions, such as "
            r'["CUST-[0-9]{6}"]. '
            f"It is not understood: {error}."
        ) from None
    return tuple(map(str, listed))
