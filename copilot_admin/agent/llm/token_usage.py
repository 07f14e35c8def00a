"""Token usage and finish reason of a model's answer."""

from collections.abc import Mapping

from copilot_admin.agent.values.model_call import Finish, Usage
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


TOO_LONG = Finish("length")  # our own byte limit ends an answer as the model's token limit does
EMPTY_ANSWER = "The model returned an empty answer. Ask again, or put the question in other words."
_CUT_OFF = (
    "The answer was cut off: the connection to the model ended before it was finished. "
    "Ask again to get the whole answer."
)
_LENGTH = (
    "The answer was cut off: it reached the longest length allowed. "
    "Ask for a shorter answer, or for the rest."
)
_FILTER = (
    "The answer was cut off by the content filter of the model's provider. "
    "Put the question in other words."
)
_BROKE_OFF = (
    "The answer was cut off: the model's provider broke off. Ask again to get the whole answer."
)
# In small letters, with "_" between words. Source: OpenAI; "model_length" is Mistral's, "error"
# OpenRouter's, "insufficient_system_resource" DeepSeek's, "abort" vLLM's and SGLang's, "time_limit" and
# "cancelled" watsonx's, "sensitive" and "network_error" Zhipu's, "timeout" and those behind it Cohere's,
# the others are of Anthropic and Gemini.
_SENTENCES: dict[str | None, str] = {
    None: _CUT_OFF,
    **dict.fromkeys(("length", "max_tokens", "max_output_tokens"), _LENGTH),
    **dict.fromkeys(("model_length", "model_context_window_exceeded", "error_limit"), _LENGTH),
    **dict.fromkeys(("content_filter", "sensitive", "error_toxic", "refusal"), _FILTER),
    **dict.fromkeys(("safety", "image_safety", "recitation", "prohibited_content"), _FILTER),
    **dict.fromkeys(("blocklist", "spii"), _FILTER),
    **dict.fromkeys(("error", "insufficient_system_resource", "network_error"), _BROKE_OFF),
    **dict.fromkeys(("abort", "aborted", "cancelled", "canceled", "user_cancel"), _BROKE_OFF),
    **dict.fromkeys(("timeout", "time_limit", "malformed_function_call"), _BROKE_OFF),
}


def truncation(finish: Finish) -> str | None:
    """The sentence that tells the reader that an answer is not whole; None when it is."""
    return _SENTENCES.get(finish.reason.lower().replace("-", "_") if finish.reason else None)


def is_cut(reason: str | None) -> bool:
    return reason is not None and truncation(Finish(reason)) is not None
