"""Reads how many tokens a provider counted."""

from collections.abc import Mapping

from copilot_admin.agent.values.model_call import Usage
from protocol.json import Json, JsonObject

# A billion tokens are more than any model reads; the sum of all rounds fits every database.
_MOST_TOKENS = 10**9


def usage_in(usage: JsonObject) -> Usage | None:
    """The tokens that a provider counted; None where it counted none, or counts as nobody can."""
    read, written = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if read is None and written is None:
        return None
    input_tokens, output_tokens = _count(read), _count(written)
    if input_tokens is None or output_tokens is None:
        return None
    cached = _detail(usage, "prompt_tokens_details", "cached_tokens")
    reasoning = _detail(usage, "completion_tokens_details", "reasoning_tokens")
    # With OpenAI what was thought is a part of what was written. Others count it beside it, which
    # their total tells.
    total = _count(usage.get("total_tokens")) or 0
    is_beside = reasoning > output_tokens or total >= input_tokens + output_tokens + reasoning > 0
    return Usage(
        input_tokens=input_tokens,
        cached_tokens=cached or _count(usage.get("prompt_cache_hit_tokens")) or 0,
        output_tokens=output_tokens + (reasoning if is_beside else 0),
        reasoning_tokens=reasoning,
    )


def _detail(usage: JsonObject, name: str, key: str) -> int:
    details = usage.get(name)
    return (_count(details.get(key)) or 0) if isinstance(details, Mapping) else 0


def _count(value: Json) -> int | None:
    """A number of tokens; nothing is 0, and what is no such number is None."""
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 <= value <= _MOST_TOKENS else None
