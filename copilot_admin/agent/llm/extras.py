"""Reasoning and signatures that a provider requires to be returned with its tool calls."""

from collections.abc import Sequence

from protocol.json import Json, JsonObject, objects_of, text_of

# Of Kimi and DeepSeek, of OpenRouter and MiniMax, of Gemini, of LiteLLM in front of Claude, of Copilot.
# Other members, such as `reasoning`, are rejected by some servers in requests.
REASONING_CONTENT = "reasoning_content"
REASONING_DETAILS = "reasoning_details"
_WHOLE = (
    "extra_content",
    "thinking_blocks",
    "provider_specific_fields",
    "reasoning_opaque",
)
EXTRA_NAMES = (REASONING_CONTENT, REASONING_DETAILS, *_WHOLE)
_JOINED = ("text", "summary")  # members of a detail that are streamed in pieces


class MessageExtras:
    """Collects the extra members of a message from its deltas."""

    def __init__(self) -> None:
        self._reasoning: list[str] = []
        self._details: list[dict[str, Json]] = []
        self._whole: dict[str, Json] = {}

    def add(self, delta: JsonObject) -> Sequence[JsonObject]:
        """Add a delta, and return what is new in its reasoning details."""
        self._reasoning += filter(None, [text_of(delta.get(REASONING_CONTENT))])
        self._whole |= {name: delta[name] for name in _WHOLE if delta.get(name)}
        details = objects_of(delta.get(REASONING_DETAILS))
        return [self._add_detail(detail) for detail in details]

    def collected(self) -> JsonObject:
        """Return the members to send back with the message's tool calls."""
        texts = {REASONING_CONTENT: "".join(self._reasoning)} if self._reasoning else {}
        details = {REASONING_DETAILS: list(self._details)} if self._details else {}
        return {**texts, **details, **self._whole}

    def _add_detail(self, detail: JsonObject) -> JsonObject:
        last = self._details[-1] if self._details else None
        if last is None or any(last.get(key) != detail.get(key) for key in ("type", "index")):
            self._details.append(dict(detail))
            return detail
        new = dict(detail)
        for name in _JOINED:
            before, text = text_of(last.get(name)), text_of(detail.get(name))
            if before and text.startswith(before) and len(text) > len(before) > 1:
                new[name] = text[len(before) :]  # MiniMax may send all of it each time
            if text:
                last[name] = before + text_of(new[name])
        last.update(
            {key: one for key, one in new.items() if key not in _JOINED and one is not None}
        )
        return new


def details_text(details: Sequence[JsonObject]) -> str:
    """Return the text in reasoning details; encrypted ones have no text."""
    return "".join(text_of(one.get(name)) for one in details for name in _JOINED)
