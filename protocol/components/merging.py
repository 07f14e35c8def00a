"""The result of a component without streaming, and views of it.

Source: "non-streaming results merge the streamed content by key" of AppBuilder's component
contract. This project groups elements of the same type, name and scope.
"""

from collections.abc import Iterable, Mapping, Sequence
import json
from typing import Any

from protocol.components.content import (
    ComponentOutput,
    Content,
    ContentType,
    OutputRole,
    VisibleScope,
)
from protocol.json import integer_of, is_number

_STREAMED = {  # the key whose pieces are joined to one text
    ContentType.TEXT: "info",
    ContentType.ORAL_TEXT: "info",
    ContentType.THOUGHT: "info",
    ContentType.CODE: "code",
}
_LATEST = frozenset({ContentType.PROGRESS, ContentType.PLAN})  # the last one replaces the others
_NOT_FOR_MODELS = frozenset({ContentType.ORAL_TEXT, ContentType.PROGRESS, ContentType.THOUGHT})
_COUNTS = ("prompt_tokens", "completion_tokens", "total_tokens")


def collect(outputs: Iterable[ComponentOutput]) -> ComponentOutput:
    """Return all content items unchanged in one output with the role of the last output."""
    listed = list(outputs)
    return ComponentOutput(
        role=listed[-1].role if listed else OutputRole.TOOL,
        content=tuple(content for output in listed for content in output.content),
    )


def merge(outputs: Iterable[ComponentOutput]) -> ComponentOutput:
    """Return the result without streaming.

    Texts, code and thoughts are joined. Only the last progress and plan remain. Other types retain
    every element. A group has the position of its first element.
    """
    whole = collect(outputs)
    groups: dict[tuple[ContentType, str, VisibleScope], list[Content]] = {}
    for content in whole.content:
        key = (content.type, content.name, content.visible_scope)
        groups.setdefault(key, []).append(content)
    merged = (one for group in groups.values() for one in _merge_group(group))
    return ComponentOutput(role=whole.role, content=tuple(merged))


def llm_text(result: ComponentOutput | Iterable[Content]) -> str:
    """Return the text of a result's tool message for the model; may be empty.

    Raw data, usage, metrics, speech, progress and thoughts are never part of it.
    """
    content = result.content if isinstance(result, ComponentOutput) else result
    lines = (_line_for_model(one) for one in content if one.visible_scope is not VisibleScope.USER)
    return "\n".join(filter(None, lines))


def total_usage(output: ComponentOutput) -> tuple[Mapping[str, Any], ...]:
    """Return the tokens of a merged output, one sum for each model by its name."""
    sums: dict[str, dict[str, Any]] = {}
    for content in output.content:
        usages = content.usage if isinstance(content.usage, list) else [content.usage]
        for usage in filter(None, usages):
            name = str(usage.get("name") or "")
            total = sums.setdefault(name, {"name": name} | dict.fromkeys(_COUNTS, 0))
            for count in _COUNTS:
                total[count] += integer_of(usage.get(count)) or 0
    return tuple(sums.values())


def one_usage(output: ComponentOutput) -> Mapping[str, Any]:
    """Return the tokens of a merged output as one sum, with the names of all models."""
    sums = total_usage(output)
    counts = {count: sum(usage[count] for usage in sums) for count in _COUNTS}
    return {**counts, "name": ", ".join(filter(None, (usage["name"] for usage in sums)))}


def _merge_group(group: Sequence[Content]) -> Sequence[Content]:
    first, last = group[0], group[-1]
    metrics = {key: value for one in group for key, value in one.metrics.items()}
    for key, choose in (("begin_timestamp", min), ("end_timestamp", max)):
        if times := [one.metrics[key] for one in group if is_number(one.metrics.get(key))]:
            metrics[key] = choose(times)
    facts = {
        "raw_data": {key: value for one in group for key, value in one.raw_data.items()},
        "usage": next((one.usage for one in reversed(group) if one.usage), {}),
        "metrics": metrics,
    }
    if first.type in _LATEST:
        return [last.model_copy(update=facts)]
    streamed = _STREAMED.get(first.type)
    if streamed is None:
        return group
    payloads = [one.text.model_dump() for one in group]
    text = {key: value for payload in payloads for key, value in payload.items()}
    text[streamed] = "".join(payload[streamed] for payload in payloads)
    return [Content.model_validate(first.model_dump() | facts | {"text": text})]


def _line_for_model(content: Content) -> str:
    payload = content.text.model_dump()
    if content.type in _NOT_FOR_MODELS:
        return ""
    if streamed := _STREAMED.get(content.type):
        return str(payload[streamed])
    full = {key: value for key, value in payload.items() if value not in (None, "", [], {})}
    full.pop("base64", None)
    named = {"name": content.name} if content.name else {}
    return json.dumps({"type": content.type.value, **named, "text": full}, ensure_ascii=False)
