"""Which endings of a model's answer are not the whole answer, and what the reader is told."""

from copilot_admin.engine.values.model_call import Finish

TOO_LONG = Finish("length")  # our own byte limit ends an answer as the model's token limit does
EMPTY_ANSWER = "The model returned an empty answer. Ask again, or put the question in other words."
_SENTENCES = {
    None: (
        "The answer was cut off: the connection to the model ended before it was finished. "
        "Ask again to get the whole answer."
    ),
    "length": (
        "The answer was cut off: it reached the longest length allowed. "
        "Ask for a shorter answer, or for the rest."
    ),
    "content_filter": (
        "The answer was cut off by the content filter of the model's provider. "
        "Put the question in other words."
    ),
}


def truncation(finish: Finish) -> str | None:
    """The sentence that tells the reader that an answer is not whole; None when it is."""
    return _SENTENCES.get(finish.reason)
