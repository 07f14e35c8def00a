"""Token usage, cost and web sources of a model's answer, in the forms of several vendors."""

from collections.abc import Mapping
from decimal import Decimal

from copilot_admin.agent.values.model_call import Usage, WebSource, WebSources
from protocol.json import Json, JsonObject, is_number, list_of, object_of, objects_of, text_of

# A billion tokens are more than any model reads; the sum of all rounds fits every database.
_MAX_TOKENS = 10**9
_MAX_COST = 10_000  # US dollars of one answer
_TICKS = 10**10  # of a US dollar, as xAI counts
_MAX_SOURCES = 100
_MAX_TITLE = 300  # characters
_MAX_TEXT = 1_000


def find_usage(chunk: JsonObject) -> Usage | None:
    """Return the usage that a chunk or an answer reports, or None."""
    # Moonshot puts it into the choice.
    holders = (chunk, object_of(chunk.get("x_groq")), *objects_of(chunk.get("choices"))[:1])
    found = (_read_usage(object_of(holder.get("usage"))) for holder in holders)
    return next(filter(None, found), None)


def _read_usage(usage: JsonObject) -> Usage | None:
    read = usage.get("prompt_tokens", usage.get("input_tokens"))
    written = usage.get("completion_tokens", usage.get("output_tokens"))
    if not (_is_count(read) or _is_count(written)):
        return None
    input_tokens, output_tokens = _count(read), _count(written)
    details = object_of(usage.get("completion_tokens_details"))
    # With OpenAI reasoning is part of the output. Others count it separately; the total reveals it.
    # Gemini counts it in the total alone.
    total = _count(usage.get("total_tokens"))
    reasoning = _count(details.get("reasoning_tokens"))
    reasoning = reasoning or max(total - input_tokens - output_tokens, 0)
    is_apart = reasoning > output_tokens or total >= input_tokens + output_tokens + reasoning > 0
    cached = (  # of OpenAI, DeepSeek, Moonshot, Anthropic
        object_of(usage.get("prompt_tokens_details")).get("cached_tokens"),
        *map(usage.get, ("prompt_cache_hit_tokens", "cached_tokens", "cache_read_input_tokens")),
    )
    return Usage(
        input_tokens=input_tokens,
        cached_tokens=next(filter(None, map(_count, cached)), 0),
        output_tokens=output_tokens + (reasoning if is_apart else 0),
        reasoning_tokens=reasoning,
        cost=_cost(usage),
    )


def _is_count(value: Json) -> bool:
    return is_number(value) and 0 <= float(str(value)) <= _MAX_TOKENS


def _count(value: Json) -> int:
    return int(float(str(value))) if _is_count(value) else 0


def _cost(usage: JsonObject) -> Decimal | None:
    """Return the cost: a number of OpenRouter, the total in an object of Perplexity, ticks of xAI.

    If the caller uses their own key of the vendor, OpenRouter's cost is only its fee.
    """
    cost = usage.get("cost")
    if isinstance(cost, Mapping):
        cost = cost.get("total_cost")
    dollars = _dollars(cost)
    if dollars is None:
        return _dollars(usage.get("cost_in_usd_ticks"), divisor=_TICKS)
    if usage.get("is_byok") is True:
        details = object_of(usage.get("cost_details"))
        dollars += _dollars(details.get("upstream_inference_cost")) or 0
    return dollars


def _dollars(value: Json, *, divisor: int = 1) -> Decimal | None:
    if not is_number(value) or not 0 <= float(str(value)) <= _MAX_COST * divisor:
        return None
    return Decimal(str(value)) / divisor


class SourceCollector:
    """Collects distinct sources from chunks, in order of arrival."""

    def __init__(self) -> None:
        self._found: dict[str, WebSource] = {}

    def read(self, chunk: JsonObject) -> None:
        """Add those of Perplexity and xAI next to the choices, or of OpenAI and OpenRouter in a delta."""
        for row in objects_of(chunk.get("search_results")):
            self._add(row)
        for row in objects_of(chunk.get("annotations")):
            self._add(object_of(row.get("url_citation")) or row)
        for citation in list_of(chunk.get("citations")):
            self._add({"url": citation} if isinstance(citation, str) else object_of(citation))

    def collected(self) -> list[WebSources]:
        """Return the sources, if there are any."""
        return [WebSources(tuple(self._found.values()))] if self._found else []

    def _add(self, row: JsonObject) -> None:
        url = text_of(row.get("url"))
        known = self._found.get(url)
        is_full = known is None and len(self._found) >= _MAX_SOURCES
        if is_full or not url.startswith(("https://", "http://")):
            return
        text = text_of(row.get("content")) or text_of(row.get("snippet"))
        self._found[url] = WebSource(
            url=url,
            title=(known and known.title) or text_of(row.get("title"))[:_MAX_TITLE],
            text=(known and known.text) or text[:_MAX_TEXT],
        )
