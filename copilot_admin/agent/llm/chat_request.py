"""Body of a chat completion request."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
import json
import re
from typing import Any

from copilot_admin.agent.llm.model_choice import RESERVED_PARAMETERS
from copilot_admin.agent.llm.provider_errors import NO_TOOLS
from copilot_admin.agent.llm.text_tool_calls import in_plain_text
from copilot_admin.agent.llm.tool_calls import EXTRA_NAMES, REASONING_CONTENT
from copilot_admin.agent.values.model_call import ModelCall, ModelMessage, ModelRole, ToolCall
from protocol.json import Json, JsonObject, list_of, object_of, objects_of
from protocol.json_schema import simplified

# Reasoning models of OpenAI; others of their line, such as "gpt-5-chat", don't reason.
_THINKING_MODEL = re.compile(r"(?:.*/)?(?:o[1-9](?![\w.])|gpt-5(?!\.\d|\d|.*chat))")
_RENAMES_LIMIT = re.compile(r"(?:.*/)?(?:o[1-9](?![\w.])|gpt-[5-9](?!\d))")
_SAMPLING = frozenset({"temperature", "top_p", "presence_penalty", "frequency_penalty"})
_GEMINI = re.compile(r"gemini-(?:[3-9]|\d\d)")
# For calls of other models, or whose signature is lost; documented by Google.
_UNSIGNED: JsonObject = {
    "extra_content": {"google": {"thought_signature": "skip_thought_signature_validator"}}
}
_NO_REASONING = "(not kept)"
_NO_ANSWER = "(no answer)"
# Adaptations by errors of Kimi and DeepSeek, Gemini, OpenAI, templates of Mistral and Gemma,
# and for tools those of Ollama, vLLM and OpenRouter.
_LESSONS: Mapping[str, dict[str, Any]] = {
    REASONING_CONTENT: {"wants_reasoning": True},
    "thought_signature": {"wants_signatures": True},
    "toolConfig field must be|must define `?tools|without `?tools=": {"needs_tools": True},
    "function_declarations|invalid schema for function": {"simple_schemas": True},
    "verified to stream|stream(?:ing)? is not supported": {"streams": False},
    "roles must alternate|unexpected role 'user' after": {"merges_messages": True},
    "system role (?:is )?not supported|role' does not support 'system'": {"has_system_role": False},
    NO_TOOLS: {"text_tools": True},
}
# Names of parameters in the text of a refusal, or in its JSON.
_NAMED = re.compile(
    r"(?:[`'\":,]|parameters?|arguments?)\s?(\w+)|(\w+)(?=[`'\"\\:,])|\b([a-z]+_[a-z_]+)\b"
)
_UNSUPPORTED = re.compile(
    "unsupported|not supported|not support|incompatible|unrecogni[sz]ed|unknown|unexpected"
    "|not permitted|extra inputs|not allowed|deprecated|both be specified",
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
    needs_tools: bool = False  # without tools, past calls are sent as text
    simple_schemas: bool = False  # schemas of tools have only what Gemini's own API knows
    text_tools: bool = False  # tools are offered by a convention in plain text
    # `max_tokens` to `max_completion_tokens`, or the reverse; None decides by the model's name
    renames_limit: bool | None = None
    refused: frozenset[str] = frozenset()  # parameters that are left out
    sends_extras: bool = True  # returns the extras of tool calls with them
    wants_reasoning: bool = False  # each message with tool calls must have its reasoning
    wants_signatures: bool = False  # each tool call must have a signature


def build_request(call: ModelCall, rules: RequestRules) -> dict[str, Json]:
    """Return the body of a request."""
    body = _parameters(call, rules)
    body["model"] = call.model
    if call.user:
        body["user"] = call.user
    if rules.text_tools or (rules.needs_tools and not call.tools):
        call = in_plain_text(call)
    body["messages"] = _messages(call, rules)
    if call.tools:
        names = ("name", "description", "parameters")
        functions = ({name: getattr(tool, name) for name in names} for tool in call.tools)
        if rules.simple_schemas:
            functions = ({**one, "parameters": simplified(one["parameters"])} for one in functions)
        body["tools"] = [{"type": "function", "function": function} for function in functions]
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
    if after.simple_schemas and not before.simple_schemas:
        sentences.append("The provider rejected the schemas of tools. Sent simplified.")
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
    for pattern, learned in _LESSONS.items():
        adapted = replace(rules, **learned)
        if adapted != rules and re.search(pattern, refusal, re.IGNORECASE):
            return adapted
    named = {_folded("".join(found)) for found in _NAMED.findall(refusal)}
    refused = {name for name in sent.keys() - _KEPT if _folded(name) in named}
    if refused and _UNSUPPORTED.search(refusal):
        return replace(rules, refused=rules.refused | refused)
    return None


def _folded(name: str) -> str:
    """Return a parameter's name in the form that it shares with its camel case, as xAI writes it."""
    return name.replace("_", "").lower()


def _parameters(call: ModelCall, rules: RequestRules) -> dict[str, Json]:
    left_out = RESERVED_PARAMETERS | rules.refused
    if _THINKING_MODEL.match(call.model):
        left_out |= _SAMPLING
    body = {key: one for key, one in call.parameters.items() if key not in left_out}
    renames = rules.renames_limit
    if renames is None:
        renames = bool(_RENAMES_LIMIT.match(call.model)) or None
    names = ("max_tokens", "max_completion_tokens")
    old, new = names if renames else names[::-1]
    if renames is not None and old in body:
        body.setdefault(new, body.pop(old))
    return body


def _messages(call: ModelCall, rules: RequestRules) -> list[Json]:
    messages = call.messages if rules.has_system_role else _without_system(call.messages)
    model = call.model if rules.sends_extras else None
    written = [_message(message, model) for message in messages]
    calling = [message for message in written if "tool_calls" in message]
    if any(message.get(REASONING_CONTENT) for message in calling) or rules.wants_reasoning:
        for message in calling:
            message.setdefault(REASONING_CONTENT, _NO_REASONING)
    calls = [objects_of(message["tool_calls"]) for message in calling]
    is_signed = any(_is_signed(one) for group in calls for one in group)
    if is_signed or rules.wants_signatures or _GEMINI.search(call.model):
        for message, (first, *others) in zip(calling, calls, strict=True):
            if not _is_signed(first):
                message["tool_calls"] = [{**first, **_UNSIGNED}, *others]
    return [*(_merged(written) if rules.merges_messages else written)]


def _is_signed(call: JsonObject) -> bool:
    google = object_of(object_of(call.get("extra_content")).get("google"))
    return bool(google.get("thought_signature"))


def _without_system(messages: Iterable[ModelMessage]) -> list[ModelMessage]:
    """Return the messages with the system text at the start of the first question."""
    system = "\n\n".join(one.text for one in messages if one.role is ModelRole.SYSTEM)
    others = [one for one in messages if one.role is not ModelRole.SYSTEM]
    users = [number for number, one in enumerate(others) if one.role is ModelRole.USER]
    if not users and system:
        others.insert(0, ModelMessage(role=ModelRole.USER, text=system))
    elif system:
        first = others[users[0]]
        others[users[0]] = replace(first, text=f"{system}\n\n{first.text}")
    return others


def _merged(messages: Iterable[dict[str, Json]]) -> list[dict[str, Json]]:
    """Join adjacent messages of one role; results and messages with calls stay separate.

    Mistral allows no question after results that weren't answered.
    """
    merged: list[dict[str, Json]] = []
    for message in messages:
        last = merged[-1] if merged else {}
        if (last.get("role"), message["role"]) == ("tool", "user"):
            merged.append({"role": "assistant", "content": _NO_ANSWER})
        is_alone = message["role"] == "tool" or "tool_calls" in message or "tool_calls" in last
        if last.get("role") != message["role"] or is_alone:
            merged.append(message)
            continue
        contents = last["content"], message["content"]
        if all(isinstance(one, str) for one in contents):
            last["content"] = "\n\n".join(str(one) for one in contents if one)
        else:
            last["content"] = [part for one in contents for part in _parts(one)]
    return merged


def _parts(content: Json) -> Sequence[Json]:
    if isinstance(content, str):
        return [_text(content)] if content else []
    return list_of(content)


def _message(message: ModelMessage, model: str | None) -> dict[str, Json]:
    """Return a message with the extras of a model's calls: the server of another may reject them."""
    content: Json = message.text
    if message.images:
        content = [*_parts(message.text)]
        for image in message.images:
            name = json.dumps(image.name, ensure_ascii=False)
            picture: Json = {"type": "image_url", "image_url": {"url": image.url}}
            content += [_text(f"<data image={name}>"), picture, _text("</data>")]
    body: dict[str, Json] = {"role": message.role.value, "content": content}
    if message.tool_calls:
        extras = [call.extras for call in message.tool_calls if call.extras]
        is_own = all(one.model == model for one in extras)
        body = {**(extras[0].message if extras and is_own else {}), **body}
        body["content"] = message.text or None
        body["tool_calls"] = [_tool_call(call, with_extras=is_own) for call in message.tool_calls]
    if message.role is ModelRole.TOOL:
        body["tool_call_id"] = message.tool_call_id
    return body


def _tool_call(call: ToolCall, *, with_extras: bool) -> JsonObject:
    extras = call.extras.call if call.extras and with_extras else {}
    function = {"name": call.name, "arguments": call.arguments or "{}"}
    return {
        **extras,
        "id": call.id,
        "type": "function",
        "function": {**object_of(extras.get("function")), **function},
    }


def _text(text: str) -> Json:
    return {"type": "text", "text": text}
