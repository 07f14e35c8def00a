"""The copilots that are attacked, with whatever a copilot can have switched on."""

from typing import Any

from protocol.features import FEATURE_KEYS

BYSTANDER, WILD, WORDED, KEYED, REHEARSED, DOOMED, SUGGESTING = (
    *("bench", "wild", "worded", "keyed", "rehearsed", "doomed", "suggesting"),
)
# A model that says nothing for so long is given up: a class is to end by itself.
SECONDS = {"connect": 5, "first_token": 20, "between_tokens": 20, "total": 60}
SUGGESTIONS = "prompt-suggestions"  # for which a model is asked twice
TOOLS = ["chart", "table", "html"]
COMPONENTS = ["table_analyst", "document_search", "calculator", "returns_toolkit", "chart_maker"]


def copilot_file(bystanders_model: str, strangers_model: str) -> dict[str, Any]:
    """A copilot file.

    Args:
        bystanders_model: The address of the model that keeps its word.
        strangers_model: That of the one that does not.
    """
    own = {"kind": "openai_compatible", "timeout_s": SECONDS}
    return {
        "format": 1,
        "providers": [
            {"name": "Upstream", "kind": "openai_compatible", "base_url": bystanders_model},
            {"name": "Wild", "base_url": strangers_model, **own},
            {"name": "Worded", "base_url": strangers_model, "tool_calling": "text", **own},
            {"name": "Rehearsal", "kind": "rehearsal"},
        ],
        "copilots": [
            _copilot(BYSTANDER, "Upstream"),
            _copilot(WILD, "Wild"),
            _copilot(WORDED, "Worded"),
            _copilot(KEYED, "Upstream", access="key"),
            _copilot(REHEARSED, "Rehearsal"),
            _copilot(DOOMED, "Upstream"),
            _copilot(SUGGESTING, "Wild", suggests=True),
        ],
    }


def _copilot(
    slug: str, provider: str, *, access: str = "open", suggests: bool = False
) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "slug": slug,
        "name": slug.title(),
        "system_prompt": "You are {{ copilot.name }}. Widgets: {{ widgets.primary }}.",
        "provider": provider,
        "model": "scripted",
        "access": access,
        "logging": "everything",
    }
    if provider == "Upstream":
        return plain
    features = {key: suggests or key != SUGGESTIONS for key in sorted(FEATURE_KEYS)}
    return {
        **plain,
        "widget_data": "ask",
        "features": features,
        "tools": TOOLS,
        "components": COMPONENTS,
        "images": True,
        "reasoning_steps": True,
        "citations": "documents",
        "stream_all_text": True,
    }
