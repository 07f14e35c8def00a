"""The models that an OpenAI-compatible server lists."""

from copilot_admin.agent.llm.sse import load_json
from copilot_admin.errors import ProviderBroke

MAX_BYTES = 8 * 1024 * 1024  # OpenRouter lists some hundred models in less than 1 MB
_MAX_MODELS = 10_000  # a page offers them all
_MAX_NAME_CHARACTERS = 200  # characters, as many as a copilot has room for
_TOO_MANY = "The address lists more models than can be read. Enter the model."


def parse_models(body: bytes) -> tuple[str, ...]:
    """Return the ids in a list of models, in order.

    Raises:
        ProviderBroke: It is no such list, or one of more than a page can offer.
    """
    if len(body) > MAX_BYTES:
        raise ProviderBroke(_TOO_MANY)
    try:
        listed = load_json(body)
    except ValueError:
        listed = None
    rows = listed.get("data") or listed.get("models") if isinstance(listed, dict) else listed
    if not isinstance(rows, list):
        raise ProviderBroke(
            "The URL answers, but not with a list of models. Check that it ends at the API, often "
            "in /v1."
        )
    named = (row.get("id") or row.get("name") for row in rows if isinstance(row, dict))
    names = {name for name in named if isinstance(name, str) and _may_be_chosen(name)}
    if len(names) > _MAX_MODELS:
        raise ProviderBroke(_TOO_MANY)
    return tuple(sorted(names))


def _may_be_chosen(name: str) -> bool:
    return len(name) <= _MAX_NAME_CHARACTERS and name.isprintable()
