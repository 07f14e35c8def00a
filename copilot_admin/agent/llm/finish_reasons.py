"""Finish reasons of all vendors, and the sentence for each."""

from copilot_admin.agent.values.model_call import Finish

OWN_LIMIT = Finish("length")  # our own byte limit ends an answer like the model's token limit
EMPTY_ANSWER = "The model returned an empty answer. Ask again, or rephrase the question."
ONLY_THOUGHTS = (
    "The model reached the longest length allowed while it was still thinking, so there is no "
    "answer. Ask a simpler question; the copilot's owner can raise the limit of tokens."
)
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
# Lower case, separated by "_". Source: OpenAI; "model_length" is Mistral's, "error"
# OpenRouter's, "insufficient_system_resource" DeepSeek's, "abort" vLLM's and SGLang's, "time_limit"
# and "cancelled" watsonx's, "sensitive" and "network_error" Zhipu's, "timeout" and those after it
# Cohere's, the others are of Anthropic and Gemini.
_REASONS = {
    _LENGTH: "length max_tokens max_output_tokens model_length model_context_window_exceeded "
    "error_limit",
    _FILTER: "content_filter sensitive error_toxic refusal safety image_safety recitation "
    "prohibited_content blocklist spii image_prohibited_content image_recitation",
    _BROKE_OFF: "error insufficient_system_resource network_error abort aborted cancelled canceled "
    "user_cancel timeout time_limit malformed_function_call unexpected_tool_call "
    "function_call_filter",
}
_SENTENCES = {reason: text for text, reasons in _REASONS.items() for reason in reasons.split()}
# Placeholders of some servers for "not yet".
_NO_REASONS = frozenset({"", "null", "none", "unknown", "unspecified", "finish_reason_unspecified"})
_MAX_CHARACTERS = 50  # the stored length


def read_reason(value: object) -> str | None:
    """Return a finish reason as a server sent it, or None if it is a placeholder."""
    if not isinstance(value, str) or value.lower() in _NO_REASONS:
        return None
    return value[:_MAX_CHARACTERS]


def truncation(finish: Finish) -> str | None:
    """Return the message for users about an incomplete answer, or None if it is complete."""
    if finish.reason is None:
        return _CUT_OFF
    # Gemini sends "content_filter: RECITATION".
    names = reversed(finish.reason.lower().replace("-", "_").split(": "))
    return next(filter(None, map(_SENTENCES.get, names)), None)


def is_out_of_length(finish: Finish) -> bool:
    return truncation(finish) is _LENGTH
