"""Images are not kept: their place in a stored request says how large they were."""

from collections.abc import Mapping, Sequence

from copilot_admin.agent.files.pictures import IMAGE_TYPES
from protocol.json import Json, JsonObject

DEEPEST = 6  # levels between a request and an item of its context


def without_images(value: Json, *, depth: int = DEEPEST) -> Json:
    """The value with words in the place of every image that it holds in base64."""
    if depth < 0:
        return value
    if isinstance(value, Mapping):
        inner = {name: without_images(one, depth=depth - 1) for name, one in value.items()}
        return {**inner, "content": _words(value)} if _is_image(value) else inner
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [without_images(one, depth=depth - 1) for one in value]
    return value


def _is_image(item: JsonObject) -> bool:
    form = item.get("data_format")
    kind = form.get("data_type") if isinstance(form, Mapping) else None
    return str(kind).lower() in IMAGE_TYPES and isinstance(item.get("content"), str)


def _words(item: JsonObject) -> str:
    return f"[an image of {len(str(item['content'])):,} characters in base64; it is not kept]"
