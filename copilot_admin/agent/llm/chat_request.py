"""Body of a chat completion request."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
import json
import re
from typing import Any

from copilot_admin.agent.llm.model_choice import RESERVED_PARAMETERS
from copilot_admin.agent.llm.text_tool_calls import in_plain_text
from copilot_admin.agent.llm.tool_calls import EXTRA_NAMES, REASONING_CONTENT
from copilot_admin.agent.values.model_call import (
    CallExtras,
    ModelCall,
    ModelMessage,
    ModelRole,
    ToolCall,
)
from protocol.json import Json, JsonObject, object_of

# Reasoning models of OpenAI; others of their line, such as "gpt-5-chat", don't reason.
_THINKING_MODEL = re.compile(r"(?:.*/)?(?:o[1-9](?![\w.])|gpt-5(?!\.\d|\d|.*chat))")
_RENAMES_LIMIT = re.compile(r"(?:.*/)?(?:o[1-9](?![\w.])|gpt-[5-9](?!\d))")
_SAMPLING = ("temperature", "top_p", "presence_penalty", "frequency_penalty")
# For calls of other models, or whose signature is lost; documented by Google.
_UNSIGNED: JsonObject = {
    "extra_content": {"google": {"thought_signature": "skip_thought_signature_validator"}}
}
_GEMINI = re.compile(r"gemini-(?:[3-9]|\d\d)")
_NO_REASONING = "(not kept)"
# Adaptations by errors of Kimi and DeepSeek, Gemini, OpenAI, templates of Mistral and Gemma,
# and for tools those of Ollama, vLLM and OpenRouter.
_LESSONS: tuple[tuple[re.Pattern[str], dict[str, Any]], ...] = (
    (re.compile(REASONING_CONTENT), {"wants_reasoning": True}),
    (re.compile("thought_signature"), {"wants_signatures": True}),
    (re.compile("verified to stream|stream(?:ing)? is not supported"), {"streams": False}),
    (re.compile("roles must alternate", re.IGNORECASE), {"merges_messages": True}),
    (re.compile("system role (?:is )?not supported", re.IGNORECASE), {"has_system_role": False}),
    (
        re.compile(
            r"not support (?:tools|tool use|tool call|function call)|support tool use"
            r"|tool-call-parser|enable-auto-tool-choice|tools? (?:is|are) not supported",
            re.IGNORECASE,
        ),
        {"text_tools": True},
    ),
)
_QUOTED = re.compile(r"[`'\"]([a-z_]+)[`'\"]")
_UNSUPPORTED = re.compile(
    "unsupported|not supported|not support|unrecogni[sz]ed|unknown|unexpected|not permitted"
    "|extra inputs|not allowed|deprecated",
    re.IGNORECASE,
)
# Parameters that are never removed. A limit may be the builder's means of saving money.
_KEPT = frozenset(
    {"model", "messages", "tools", "stream", "user", "max_tokens", "max_completion_tokens"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestRules:
    """Rules of a server for requests, set by its operator or learned from its errors."""

    streams: bool = True  # otherwise the answer is one JSON document
    with_usage: bool = True  # request the token usage at the end of the stream
    merges_messages: bool = False  # adjacent ones of one role become one
    has_system_role: bool = True  # otherwise the system text opens the first user message
    text_tools: bool = False  # tools are offered by a convention in plain text
    # `max_tokens` is called `max_completion_tokens`; None decides by the model's name
    renames_limit: bool | None = None
    refused: frozenset[str] = frozenset()  # parameters that are left out
    sends_extras: bool = True  # returns the extras of tool calls with them
    wants_reasoning: bool = False  # each message with tool calls must have its reasoning
    wants_signatures: bool = False  # each tool call must have a signature


STANDARD_RULES = RequestRules()


def build_request(call: ModelCall, rules: RequestRules = STANDARD_RULES) -> dict[str, Json]:
    """Return the body of a request."""
    body = _parameters(call, rules)
    body["model"] = call.model
    if call.user:
        body["user"] = call.user
    if rules.text_tools:
        call = in_plain_text(call)
    body["messages"] = _messages(call, rules)
    if call.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.parameters,
                },
            }
            for tool in call.tools
        ]
    body["stream"] = rules.streams
    if rules.streams and rules.with_usage:
        body["stream_options"] = {"include_usage": True}
    return body


def describe_changes(before: RequestRules, after: RequestRules) -> str:
    """Return a sentence on changes that a reviewer may notice in the answer, or an empty text."""
    sentences = []
    refused = sorted(after.refused - before.refused)
    if refused:
        sentences.append(f"The provider rejected {', '.join(refused)}. Sent without.")
    if before.streams and not after.streams:
        sentences.append("The provider can't stream this model. The answer came in one piece.")
    if after.text_tools and not before.text_tools:
        sentences.append(
            "The model doesn't support tool calls. Tools were described in the prompt."
        )
    return " ".join(sentences)


def adapt_rules(rules: RequestRules, refusal: str, sent: Mapping[str, Json]) -> RequestRules | None:
    """Return rules under which the `sent` body may succeed, or None if no change could help."""
    if "stream_options" in refusal and "stream_options" in sent:
        return replace(rules, with_usage=False)
    if "max_completion_tokens" in refusal and {"max_tokens", "max_completion_tokens"} & sent.keys():
        return replace(rules, renames_limit="max_tokens" in sent)
    if any(name in refusal for name in EXTRA_NAMES) and _UNSUPPORTED.search(refusal):
        return replace(rules, sends_extras=False) if rules.sends_extras else None
    for pattern, learned in _LESSONS:
        adapted = replace(rules, **learned)
        if adapted != rules and pattern.search(refusal):
            return adapted
    refused = (sent.keys() & set(_QUOTED.findall(refusal))) - _KEPT
    if refused and _UNSUPPORTED.search(refusal):
        return replace(rules, refused=rules.refused | refused)
    return None


def _parameters(call: ModelCall, rules: RequestRules) -> dict[str, Json]:
    left_out = RESERVED_PARAMETERS | rules.refused
    body = {key: one for key, one in call.parameters.items() if key not in left_out}
    renames = rules.renames_limit
    if renames is None:
        renames = bool(_RENAMES_LIMIT.match(call.model))
    if renames and "max_tokens" in body:
        body.setdefault("max_completion_tokens", body.pop("max_tokens"))
    elif rules.renames_limit is False and "max_completion_tokens" in body:
        body.setdefault("max_tokens", body.pop("max_completion_tokens"))
    if _THINKING_MODEL.match(call.model):
        body = {key: one for key, one in body.items() if key not in _SAMPLING}
    return body


def _messages(call: ModelCall, rules: RequestRules) -> list[Json]:
    model = call.model if rules.sends_extras else None
    messages = [_without_foreign_extras(message, model) for message in call.messages]
    if not rules.has_system_role:
        messages = _without_system(messages)
    calls = [one for message in messages for one in message.tool_calls]
    wants_signatures = (
        rules.wants_signatures
        or bool(_GEMINI.search(call.model))
        or any(_is_signed(one) for one in calls)
    )
    wants_reasoning = rules.wants_reasoning or any(
        one.extras is not None and one.extras.message.get(REASONING_CONTENT) for one in calls
    )
    written: list[dict[str, Json]] = []
    for message in messages:
        if message.tool_calls and wants_signatures and not _is_signed(message.tool_calls[0]):
            first, *others = message.tool_calls
            message_extras = first.extras.message if first.extras else {}
            extras = CallExtras(model=call.model, call=_UNSIGNED, message=message_extras)
            first = replace(first, extras=extras)
            message = replace(message, tool_calls=(first, *others))
        body = _message(message)
        if message.tool_calls and wants_reasoning and not body.get(REASONING_CONTENT):
            body[REASONING_CONTENT] = _NO_REASONING
        written.append(body)
    return [*(_merged(written) if rules.merges_messages else written)]


def _without_foreign_extras(message: ModelMessage, model: str | None) -> ModelMessage:
    """Drop extras of calls that another model made: this one's server might reject them."""
    if all(one.extras is None or one.extras.model == model for one in message.tool_calls):
        return message
    calls = tuple(replace(one, extras=None) for one in message.tool_calls)
    return replace(message, tool_calls=calls)


def _is_signed(call: ToolCall) -> bool:
    extras = call.extras.call if call.extras else {}
    google = object_of(object_of(extras.get("extra_content")).get("google"))
    return bool(google.get("thought_signature"))


def _without_system(messages: Iterable[ModelMessage]) -> list[ModelMessage]:
    system = "\n\n".join(one.text for one in messages if one.role is ModelRole.SYSTEM)
    others = [one for one in messages if one.role is not ModelRole.SYSTEM]
    if not system:
        return others
    for number, one in enumerate(others):
        if one.role is ModelRole.USER:
            others[number] = replace(one, text=f"{system}\n\n{one.text}")
            return others
    return [ModelMessage(role=ModelRole.USER, text=system), *others]


def _merged(messages: Iterable[dict[str, Json]]) -> list[dict[str, Json]]:
    """Join adjacent messages of one role; results and messages with calls stay separate."""
    merged: list[dict[str, Json]] = []
    alone = None
    for message in messages:
        is_alone = message["role"] == ModelRole.TOOL.value or "tool_calls" in message
        if merged and merged[-1]["role"] == message["role"] and not is_alone and not alone:
            merged[-1]["content"] = _joined(merged[-1]["content"], message["content"])
        else:
            merged.append(message)
        alone = is_alone
    return merged


def _joined(first: Json, second: Json) -> Json:
    if isinstance(first, str) and isinstance(second, str):
        return "\n\n".join(filter(None, (first, second)))
    parts: list[Json] = []
    for content in (first, second):
        if isinstance(content, str):
            parts += [_text(content)] if content else []
        elif isinstance(content, list):
            parts += content
    return parts


def _message(message: ModelMessage) -> dict[str, Json]:
    body: dict[str, Json] = {"role": message.role.value, "content": _content(message)}
    if message.tool_calls:
        extras = next((call.extras.message for call in message.tool_calls if call.extras), {})
        body = {**extras, **body, "content": message.text or None}
        body["tool_calls"] = [_tool_call(call) for call in message.tool_calls]
    if message.role is ModelRole.TOOL:
        body["tool_call_id"] = message.tool_call_id
    return body


def _tool_call(call: ToolCall) -> JsonObject:
    extras = call.extras.call if call.extras else {}
    function = {"name": call.name, "arguments": call.arguments or "{}"}
    return {
        **extras,
        "id": call.id,
        "type": "function",
        "function": {**object_of(extras.get("function")), **function},
    }


def _content(message: ModelMessage) -> Json:
    if not message.images:
        return message.text
    parts: list[Json] = [_text(message.text)] if message.text else []
    for image in message.images:
        parts += (
            _text(f"<data image={json.dumps(image.name, ensure_ascii=False)}>"),
            {"type": "image_url", "image_url": {"url": image.url}},
            _text("</data>"),
        )
    return parts


def _text(text: str) -> Json:
    return {"type": "text", "text": text}
