"""Facts that vendors document about their models: context windows, tools, kinds.

Nothing is known of a model that isn't here. Ids come with a vendor ("openai/gpt-4o") or a day
("gpt-4o-2024-08-06"); the facts of a family hold for ids that go on after its name.
"""

from collections.abc import Iterable, Iterator, Mapping

from copilot_admin.agent.values.spec import CopilotSpec

# Tokens, as the vendors' pages of models name them; of a family whose members differ the largest.
_WINDOWS: Mapping[str, int] = {
    name: tokens
    for tokens, names in (
        (8_192, ("gpt-4",)),
        (16_385, ("gpt-3.5-turbo",)),
        (32_768, ("gpt-4-32k",)),
        (128_000, ("gpt-4-turbo", "gpt-4-vision", "gpt-4-1106", "gpt-4-0125", "gpt-4o")),
        (128_000, ("mistral-large", "llama-3.1", "llama-3.3")),
        (200_000, ("o1", "o3", "o4", "claude-3", "claude-sonnet", "claude-opus", "claude-haiku")),
        (400_000, ("gpt-5",)),
        (1_047_576, ("gpt-4.1",)),
        (1_048_576, ("gemini-1.5", "gemini-2.0", "gemini-2.5")),
    )
    for name in names
}
_VISION = ("gpt-4o", "gpt-4.1", "gpt-4-turbo", "gpt-5", "o1", "o3", "o4", "claude", "gemini",
           "pixtral")  # fmt: skip
# Parts of the names of models that embed, rank, speak, listen or draw.
_OTHER_KINDS = ("embed", "rerank", "whisper", "tts", "audio", "realtime", "transcribe", "moderation",
                "image", "dall-e", "sora", "search-preview", "instruct-0914")  # fmt: skip
# Their servers refuse a request that offers tools.
_WITHOUT_TOOLS = ("o1-mini", "o1-preview", "chatgpt-4o-latest", "gpt-4o-search-preview",
                  "gpt-4o-mini-search-preview")  # fmt: skip
# They hold no conversations: embeddings, pictures, sound, moderation, texts without roles.
_NO_CHAT = ("text-embedding", "text-moderation", "omni-moderation", "whisper", "tts", "dall-e",
            "gpt-image", "gpt-3.5-turbo-instruct", "davinci-002", "babbage-002", "nomic-embed-text",
            "mxbai-embed")  # fmt: skip
# They think before they answer, and take no temperature but their own.
_REASONING = ("o1", "o3", "o4-mini")
_ENDS = "-:@"


def models_of(spec: CopilotSpec) -> tuple[str, ...]:
    """Return every model of the copilot's own provider that may answer, each once."""
    switched = (one.model for one in spec.custom_features if one.model and not one.provider)
    named = (spec.model, *(id for id, _ in spec.models), *switched)
    return tuple(dict.fromkeys(one for one in named if one.strip()))


def window_of(model: str) -> int | None:
    """Return the context window of a model in tokens; None if it isn't known."""
    family = max(_families(model, _WINDOWS), key=len, default="")
    return _WINDOWS.get(family)


def takes_no_tools(model: str) -> bool:
    return any(_families(model, _WITHOUT_TOOLS))


def is_no_chat(model: str) -> bool:
    return any(_families(model, _NO_CHAT))


def sees_images(model: str) -> bool:
    return any(_families(model, _VISION))


def pick_chat_model(models: Iterable[str]) -> str:
    """Return a model that most likely chats, to test a provider with; empty if there is none."""
    chat = [
        model
        for model in models
        if not is_no_chat(model) and not any(part in model.lower() for part in _OTHER_KINDS)
    ]
    return next((model for model in chat if "mini" in model.lower()), next(iter(chat), ""))


def takes_no_temperature(model: str) -> bool:
    return any(_families(model, _REASONING))


def _families(model: str, names: Iterable[str]) -> Iterator[str]:
    id = model.strip().lower().rpartition("/")[2]
    return (name for name in names if id.startswith(name) and id[len(name) :][:1] in ("", *_ENDS))
