"""Tool calls assembled from the fragments of a stream, and the tolerant reading of them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
import json
import re

from copilot_admin.agent.values.model_call import CallExtras, ToolCall
from copilot_admin.errors import LimitReached
from protocol.json import Json, JsonObject, json_of, object_of, objects_of, text_of

MAX_CALLS = 128  # the most tools that OpenAI accepts in a request
MAX_ARGUMENT_BYTES = 1024 * 1024
MAX_NAME = 200  # characters of a name or an id; OpenAI allows 64 and 40
# Reasoning and signatures that a provider requires back with its tool calls: of Kimi and DeepSeek, of
# OpenRouter and MiniMax, of Gemini, of LiteLLM in front of Claude, of Copilot. Other members, such as
# `reasoning`, are rejected by some servers in requests.
REASONING_CONTENT = "reasoning_content"
REASONING_DETAILS = "reasoning_details"
_WHOLE = ("extra_content", "thinking_blocks", "provider_specific_fields", "reasoning_opaque")
EXTRA_NAMES = (REASONING_CONTENT, REASONING_DETAILS, *_WHOLE)
_JOINED = ("text", "summary")  # members of a detail that are streamed in pieces
_OWN_MEMBERS = frozenset({"id", "type", "index", "name", "arguments", "function"})
_OWN_FUNCTION_MEMBERS = frozenset({"name", "arguments", "parameters"})
_FENCE = re.compile(r"\A(?:```(?:json)?|json)\s+(?=[{\[])|\s*```\Z")
_TRAILING_COMMA = re.compile(r'("(?:[^"\\]|\\.)*+")|,(?=\s*[}\]])', re.DOTALL)


class CallLimits:
    """Counts the calls of one answer and the bytes of their arguments; raises `LimitReached`."""

    def __init__(self) -> None:
        self._calls = self._bytes = 0

    def count_call(self) -> None:
        self._calls += 1
        if self._calls > MAX_CALLS:
            raise LimitReached(
                f"The model called more than {MAX_CALLS} tools in one answer, so the answer was "
                "ended. Ask for less at once."
            )

    def count_arguments(self, text: str) -> None:
        self._bytes += len(text) if text.isascii() else len(text.encode(errors="surrogatepass"))
        if self._bytes > MAX_ARGUMENT_BYTES:
            raise LimitReached(
                "The model wrote more than 1 MB of arguments for the tools it called, so the answer "
                "was ended. Ask for less at once."
            )


@dataclass(slots=True)
class _Call:
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)
    extras: dict[str, Json] = field(default_factory=dict)


class ToolCallAccumulator:
    """Collects fragments of tool calls, and members of their message that the `model` requires back.

    A fragment belongs to the call with its index. If a server sends no index, or always the same,
    a new id marks a new call. Servers that send no id at all send each call in one fragment, and
    so do some that send the same index for all.
    """

    def __init__(self, limits: CallLimits, *, model: str, offered: Collection[str]) -> None:
        self._calls: list[_Call] = []
        self._latest: dict[int, _Call] = {}  # of each index
        self._limits = limits
        self._model = model
        self._offered = offered
        self._reasoning: list[str] = []
        self._details: list[dict[str, Json]] = []
        self._whole: dict[str, Json] = {}

    def add(self, fragment: JsonObject) -> None:
        """Add one member of a chunk's `tool_calls`."""
        function = object_of(fragment.get("function"))
        name = text_of(function.get("name")) or text_of(fragment.get("name"))
        id = text_of(fragment.get("id"))[:MAX_NAME]
        arguments = arguments_text(function.get("arguments", function.get("parameters")))
        call = self._find(fragment.get("index"), id, name, _is_complete([arguments]))
        call.id = call.id or id
        if name != call.name:  # some repeat the name each time
            call.name = (call.name + name[:MAX_NAME])[:MAX_NAME]
        if arguments:
            self._limits.count_arguments(arguments)
            call.arguments.append(arguments)
        call.extras |= _others(fragment, _OWN_MEMBERS)
        if inner := _others(function, _OWN_FUNCTION_MEMBERS):
            call.extras["function"] = inner

    def calls(self) -> list[ToolCall]:
        """Return the calls so far; missing ids are generated, since results refer to them."""
        calls: dict[str, ToolCall] = {}
        for call in self._calls:
            if call.name:
                is_new = call.id and call.id not in calls
                id = call.id if is_new else f"made{len(calls):05}"
                arguments = read_arguments_text("".join(call.arguments))
                found = ToolCall(id=id, name=call.name, arguments=arguments)
                calls[id] = self.complete(found, call.extras)
        return list(calls.values())

    def complete(self, call: ToolCall, extras: JsonObject | None = None) -> ToolCall:
        """Return a call with the name of an offered tool, and with its extras."""
        texts = {REASONING_CONTENT: "".join(self._reasoning)} if self._reasoning else {}
        details = {REASONING_DETAILS: list(self._details)} if self._details else {}
        message = {**texts, **details, **self._whole}
        found = CallExtras(model=self._model, call=extras or {}, message=message)
        has_extras = bool(extras or message)
        name = read_name(call.name, self._offered)
        return replace(call, name=name, extras=found if has_extras else None)

    def add_message(self, delta: JsonObject) -> str:
        """Add a delta, and return the new text in its reasoning details; encrypted ones have none."""
        self._reasoning += filter(None, [text_of(delta.get(REASONING_CONTENT))])
        self._whole |= {name: delta[name] for name in _WHOLE if delta.get(name)}
        return "".join(map(self._add_detail, objects_of(delta.get(REASONING_DETAILS))))

    def _find(self, index: Json, id: str, name: str, is_whole: bool) -> _Call:
        number = index if isinstance(index, int) else None
        newest = self._calls[-1] if self._calls else None
        latest = newest if number is None else self._latest.get(number)
        if latest is not None:
            has_other_id = bool(id and latest.id and id != latest.id)
            # A complete call doesn't continue another one, whatever numbers and ids they have.
            is_next = (number is None and not id) or (is_whole and _is_complete(latest.arguments))
            is_placeholder = latest.arguments == ["{}"] and (
                not name or (number is not None and name == latest.name)
            )
            if not has_other_id and (is_placeholder or not (is_next and name and latest.name)):
                return latest
        self._limits.count_call()
        self._calls.append(_Call())
        if number is not None:
            self._latest[number] = self._calls[-1]
        return self._calls[-1]

    def _add_detail(self, detail: JsonObject) -> str:
        last = self._details[-1] if self._details else None
        if last is None or any(last.get(key) != detail.get(key) for key in ("type", "index")):
            self._details.append(dict(detail))
            return "".join(text_of(detail.get(name)) for name in _JOINED)
        new = ""
        for name in _JOINED:
            before, text = text_of(last.get(name)), text_of(detail.get(name))
            if text.startswith(before) and len(text) > len(before) > 1:
                text = text[len(before) :]  # MiniMax may send all of it each time
            if text:
                last[name] = before + text
                new += text
        last.update(_others(detail, _JOINED))
        return new


def read_name(name: str, offered: Collection[str]) -> str:
    """Return the offered tool if a name is unambiguous, else the name unchanged.

    Models write "functions.table", "default_api:table", "table<|channel|>commentary", "functions.table:0".
    """
    if name in offered:
        return name
    plain = name.partition("<|")[0].strip()
    last = re.split(r"[.:/]", re.sub(r":\d+$", "", plain))[-1]
    found = [one for one in offered if _folded(one) in (_folded(plain), _folded(last))]
    return found[0] if len(found) == 1 else name


def _folded(name: str) -> str:
    return name.lower().replace("-", "_")


def read_arguments_text(text: str) -> str:
    """Return arguments as the JSON text of an object if they are unambiguous, else unchanged."""
    text = _FENCE.sub("", text.strip())
    if text in ("", "null"):
        return ""
    # Some write an empty object before the real arguments.
    return _object_in(text) or _object_in(text.removeprefix("{}")) or text


def _object_in(text: str) -> str:
    value = json_of(text)
    while isinstance(value, str):  # texts within texts
        text, value = value, json_of(value)
    if isinstance(value, dict):
        return text
    try:
        value = json.loads(_TRAILING_COMMA.sub(r"\1", text), strict=False)  # line ends in texts
    except (ValueError, RecursionError):
        return ""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else ""


def arguments_text(value: Json) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False)


def _others(members: JsonObject, own: Collection[str]) -> dict[str, Json]:
    return {key: one for key, one in members.items() if key not in own and one is not None}


def _is_complete(arguments: Sequence[str]) -> bool:
    return (
        bool(arguments) and arguments[0].lstrip()[:1] == "{" and arguments[-1].rstrip()[-1:] == "}"
    )
