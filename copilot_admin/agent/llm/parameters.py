"""The parameters of a model call that a builder may not set."""

# A builder's parameters tune the model; what makes the request what it is stays ours.
RESERVED_PARAMETERS = frozenset({"model", "messages", "tools", "stream", "stream_options", "n"})
