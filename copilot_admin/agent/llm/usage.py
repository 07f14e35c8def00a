"""Token usage and cost of a model's answer, in the formats of several servers."""

from collections.abc import Mapping
from decimal import Decimal

from copilot_admin.agent.values.model_call import Usage
from protocol.json import Json, JsonObject, is_number, object_of, objects_of

# A billion tokens are more than any model reads; the sum of all rounds fits every database.
_MAX_TOKENS = 10**9
_MAX_COST = 10_000  # US dollars of one answer
_TICKS = Decimal(10) ** 10  # of a US dollar, as xAI counts


def find_usage(chunk: JsonObject) -> Usage | None:
    """Return the usage that a chunk or an answer reports, or None."""
    # Moonshot puts it into the choice.
    holders = (chunk, object_of(chunk.get("x_groq")), *objects_of(chunk.get("choices"))[:1])
    found = (read_usage(object_of(holder.get("usage"))) for holder in holders)
    return next((usage for usage in found if usage is not None), None)


def read_usage(usage: JsonObject) -> Usage | None:
    """Return the tokens that a provider counted, or None if a count is missing or impossible."""
    read = usage.get("prompt_tokens", usage.get("input_tokens"))
    written = usage.get("completion_tokens", usage.get("output_tokens"))
    if read is None and written is None:
        return None
    input_tokens, output_tokens = _count(read), _count(written)
    if input_tokens is None or output_tokens is None:
        return None
    reasoning = _detail(usage, "completion_tokens_details", "reasoning_tokens")
    # With OpenAI reasoning is part of the output. Others count it separately; the total reveals it.
    total = _count(usage.get("total_tokens")) or 0
    is_apart = reasoning > output_tokens or total >= input_tokens + output_tokens + reasoning > 0
    return Usage(
        input_tokens=input_tokens,
        cached_tokens=_cached(usage),
        output_tokens=output_tokens + (reasoning if is_apart else 0),
        reasoning_tokens=reasoning,
        cost=_cost(usage),
    )


def _cached(usage: JsonObject) -> int:
    names = ("prompt_cache_hit_tokens", "cached_tokens", "cache_read_input_tokens")
    counts = (_count(usage.get(name)) for name in names)  # DeepSeek, Moonshot, Anthropic
    return _detail(usage, "prompt_tokens_details", "cached_tokens") or next(filter(None, counts), 0)


def _detail(usage: JsonObject, name: str, key: str) -> int:
    return _count(object_of(usage.get(name)).get(key)) or 0


def _count(value: Json) -> int | None:
    if value is None:
        return 0
    if not is_number(value) or not 0 <= float(str(value)) <= _MAX_TOKENS:
        return None
    return int(float(str(value)))


def _cost(usage: JsonObject) -> Decimal | None:
    """Return the cost: a number of OpenRouter, the total in an object of Perplexity, ticks of xAI.

    If the caller uses their own key of the vendor, OpenRouter's cost is only its fee.
    """
    cost, details = usage.get("cost"), usage.get("cost_details")
    if isinstance(cost, Mapping):
        cost = cost.get("total_cost")
    dollars = _dollars(cost)
    if dollars is None:
        ticks = _dollars(usage.get("cost_in_usd_ticks"), largest=_MAX_COST * 10**10)
        return None if ticks is None else ticks / _TICKS
    if usage.get("is_byok") is True and isinstance(details, Mapping):
        dollars += _dollars(details.get("upstream_inference_cost")) or 0
    return dollars


def _dollars(value: object, *, largest: float = _MAX_COST) -> Decimal | None:
    if not is_number(value) or not 0 <= float(str(value)) <= largest:
        return None
    return Decimal(str(value))
