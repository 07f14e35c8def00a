"""Tell a request's generation by its shape; the address it came to is only a hint.

Source: the request bodies of the three generations. What a request says of itself outweighs its
messages: a chat keeps them as another client wrote them, and the dialect is that of the client that
asks now.
"""

from collections.abc import Iterable, Iterator, Mapping

from protocol.json import Json, JsonObject
from protocol.models import Generation, is_upload
from protocol.reading.messages import decoded_call, raw_role

_ONLY_THREE = (
    "timezone",
    "workspace_state",
    "workspace_options",
    "tools",
    "model",
    "skills_catalog",
)
_GROUPS = ("primary", "secondary", "extra")
_ARGUMENTS = "copilot_function_call_arguments"


def detect(body: JsonObject, *, hint: Generation | None) -> Generation:
    """The dialect to answer in."""
    if any(key in body for key in _ONLY_THREE):  # as nearly always: nothing else has to be read
        return Generation.THREE
    if _lists_widgets(body):
        return Generation.ONE
    raw = body.get("messages")
    listed = raw if isinstance(raw, list | tuple) else ()
    messages = [one for one in listed if isinstance(one, Mapping)]
    results = [one for one in messages if raw_role(one) == "tool"]
    calls = [call for one in messages if (call := _call(one))]
    if _speaks_three(messages=messages, results=results):
        return Generation.THREE
    if _speaks_one(body, results=results, calls=calls):
        return Generation.ONE
    if _speaks_two(body, results=results, calls=calls):
        return Generation.TWO
    return hint or Generation.THREE


def _speaks_one(
    body: JsonObject, *, results: Iterable[JsonObject], calls: Iterable[JsonObject]
) -> bool:
    if isinstance(body.get("widgets"), list | tuple):
        return True
    if any(_names_one_widget(one) for one in (*results, *calls)):
        return True
    return any(
        one.get("content") is not None or isinstance(one.get("data"), Mapping) for one in results
    )


def _speaks_two(
    body: JsonObject, *, results: Iterable[JsonObject], calls: Iterable[JsonObject]
) -> bool:
    if any(_ARGUMENTS in one for one in (*results, *calls)):
        return True
    if any("content" in one and "error_type" not in one for one in _elements(results)):
        return True
    widgets = list(_grouped(body.get("widgets")))
    return bool(widgets) and not any(one.get("uuid") for one in widgets)


def _lists_widgets(body: JsonObject) -> bool:
    widgets = body.get("widgets")
    return isinstance(widgets, list | tuple) and bool(widgets)


def _speaks_three(*, messages: Iterable[JsonObject], results: Iterable[JsonObject]) -> bool:
    if any("agent_id" in one for one in messages):
        return True
    return any("items" in one for one in _elements(results))


def _call(message: JsonObject) -> JsonObject | None:
    return decoded_call(message.get("content")) if raw_role(message) == "ai" else None


def _names_one_widget(call: JsonObject) -> bool:
    arguments = call.get("input_arguments")
    return isinstance(arguments, Mapping) and "widget_uuid" in arguments


def _elements(results: Iterable[JsonObject]) -> Iterator[JsonObject]:
    for result in results:
        data = result.get("data")
        if isinstance(data, list | tuple):
            yield from (one for one in data if isinstance(one, Mapping))


def _grouped(widgets: Json) -> Iterator[JsonObject]:
    """The widgets in their groups, without attached files: those have no uuid in any generation."""
    groups = [widgets.get(group) for group in _GROUPS] if isinstance(widgets, Mapping) else []
    for members in groups:
        if isinstance(members, list | tuple):
            yield from (one for one in members if isinstance(one, Mapping) and not _is_file(one))


def _is_file(widget: JsonObject) -> bool:
    return is_upload(origin=str(widget.get("origin")), id=str(widget.get("widget_id")))
