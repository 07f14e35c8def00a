"""Which endings of a model's answer are not the whole answer, and what the reader is told."""

from copilot_admin.agent.values.model_call import Finish

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
