"""Tool calls assembled from the fragments of a stream, and the tolerant reading of them."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
import json
import re

from copilot_admin.agent.values.model_call import CallExtras, ToolCall
from copilot_admin.errors import LimitReached
from protocol.json import Json, JsonObject, json_of, object_of, text_of

MAX_CALLS = 128  # the most tools that OpenAI accepts in a request
MAX_ARGUMENT_BYTES = 1024 * 1024
MAX_NAME = 200  # characters of a name or an id; OpenAI allows 64 and 40
_OWN_MEMBERS = frozenset({"id", "type", "index", "name", "arguments", "function"})
_OWN_FUNCTION_MEMBERS = frozenset({"name", "arguments", "parameters"})
_FENCE = re.compile(r"\A(?:```(?:json)?|json)\s+(?=[{\[])|\s*```\Z")
_TRAILING_COMMA = re.compile(r'("(?:[^"\\]|\\.)*+")|,(?=\s*[}\]])', re.DOTALL)


class CallLimits:
    """Counts the calls of one answer and the bytes of their arguments; raises `LimitReached`."""

    def __init__(self) -> None:
        self._calls = 0
        self._bytes = 0

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
    """Collects fragments of tool calls.

    A fragment belongs to the call with its index. If a server sends no index, or always the same,
    a new id marks a new call. Servers that send no id at all send each call in one fragment, and
    so do some that send the same index for all.
    """

    def __init__(self, limits: CallLimits) -> None:
        self._calls: list[_Call] = []
        self._latest: dict[int, _Call] = {}  # of each index
        self._limits = limits

    def add(self, fragment: Json) -> None:
        """Add one member of a chunk's `tool_calls`."""
        if not isinstance(fragment, dict):
            return
        function = object_of(fragment.get("function"))
        name = text_of(function.get("name")) or text_of(fragment.get("name"))
        id = text_of(fragment.get("id"))[:MAX_NAME]
        arguments = _arguments_text(function.get("arguments", function.get("parameters")))
        index = fragment.get("index")
        call = self._find(
            index if isinstance(index, int) else None,
            id=id,
            name=name,
            is_whole=_is_complete((arguments,)),
        )
        call.id = call.id or id
        if name != call.name and len(call.name) < MAX_NAME:  # some repeat the name each time
            call.name = (call.name + name[:MAX_NAME])[:MAX_NAME]
        if arguments:
            self._limits.count_arguments(arguments)
            call.arguments.append(arguments)
        call.extras |= _extras_in(fragment, function)

    def calls(self, *, offered: Collection[str], model: str, message: JsonObject) -> list[ToolCall]:
        """Return the calls so far; missing ids are generated, since results refer to them.

        `message` is sent back to the `model` with the message of the calls.
        """
        named = [call for call in self._calls if call.name]
        calls = []
        for id, call in zip(_distinct([call.id for call in named]), named, strict=True):
            arguments = "".join(call.arguments)
            calls.append(
                ToolCall(
                    id=id,
                    name=read_name(call.name, offered),
                    arguments=read_arguments_text(arguments),
                    extras=call_extras(model, call=call.extras, message=message),
                )
            )
        return calls

    def _find(self, index: int | None, *, id: str, name: str, is_whole: bool) -> _Call:
        newest = self._calls[-1] if self._calls else None
        latest = newest if index is None else self._latest.get(index)
        if latest is not None:
            has_other_id = bool(id and latest.id and id != latest.id)
            # A complete call doesn't continue another one, whatever numbers and ids they have.
            is_next = (index is None and not id) or (is_whole and _is_complete(latest.arguments))
            is_placeholder = latest.arguments == ["{}"] and (
                not name or (index is not None and name == latest.name)
            )
            if not has_other_id and (is_placeholder or not (is_next and name and latest.name)):
                return latest
        self._limits.count_call()
        made = _Call()
        self._calls.append(made)
        if index is not None:
            self._latest[index] = made
        return made


def call_extras(model: str, *, call: JsonObject, message: JsonObject) -> CallExtras | None:
    """Return the extras to send back with a call, or None if there are none."""
    return CallExtras(model=model, call=call, message=message) if call or message else None


def read_name(name: str, offered: Collection[str]) -> str:
    """Return the offered tool if a name is unambiguous, else the name unchanged.

    Models write "functions.table", "default_api:table", "table<|channel|>commentary", "functions.table:0".
    """
    if name in offered:
        return name
    plain = name.partition("<|")[0].strip()
    candidates = {plain, re.split(r"[.:/]", re.sub(r":\d+$", "", plain))[-1]}
    found = {one for one in offered if {_folded(one)} & {_folded(each) for each in candidates}}
    return found.pop() if len(found) == 1 else name


def _folded(name: str) -> str:
    return name.lower().replace("-", "_")


def read_arguments_text(text: str) -> str:
    """Return arguments as the JSON text of an object if they are unambiguous, else unchanged."""
    text = _FENCE.sub("", text.strip())
    if text in ("", "null"):
        return ""
    candidates = [text]
    if text.startswith("{}"):  # written before the real arguments
        candidates.append(text[2:])
    half = text[: len(text) // 2]
    if text == half * 2:  # the text is repeated at the end
        candidates.append(half)
    return next(filter(None, map(_object_in, candidates)), text)


def _object_in(text: str) -> str | None:
    value = json_of(text)
    while isinstance(value, str):  # texts within texts
        text, value = value, json_of(value)
    if isinstance(value, dict):
        return text
    try:
        value = json.loads(_TRAILING_COMMA.sub(r"\1", text), strict=False)  # line ends in texts
    except (ValueError, RecursionError):
        return None
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else None


def parse_calls(value: object, offered: Collection[str], *, strict: bool) -> list[ToolCall] | None:
    """Return the calls that a JSON value describes, or None if it is something else.

    It is an object with a name and arguments, or a list of them. If `strict`, names of tools that
    aren't offered are no calls.
    """
    rows = value if isinstance(value, list) else [value]
    calls = [_as_call(row, offered, strict=strict) for row in rows]
    found = [call for call in calls if call is not None]
    is_known = not strict or all(call.name in offered for call in found)
    return found if found and len(found) == len(calls) and is_known else None


def _as_call(row: object, offered: Collection[str], *, strict: bool) -> ToolCall | None:
    if not isinstance(row, dict):
        return None
    inner = row.get("function")
    about: dict[str, Json] = inner if isinstance(inner, dict) else row
    names = (about.get(key) for key in ("name", "function", "tool", "tool_name"))
    name: str = next((str(one) for one in names if one and isinstance(one, str)), "")
    found = [about[key] for key in ("arguments", "parameters", "args") if key in about]
    if not name or (not found and (strict or len(about) > 1)):
        return None
    arguments = read_arguments_text(_arguments_text(found[0])) if found else ""
    return ToolCall(id="", name=read_name(name, offered)[:MAX_NAME], arguments=arguments)


def numbered(calls: Iterable[ToolCall], *, start: int) -> list[ToolCall]:
    """Assign ids of nine letters and digits to textual calls: some vendors require this form."""
    return [replace(call, id=f"text{start + n:05}") for n, call in enumerate(calls)]


def _extras_in(fragment: JsonObject, function: JsonObject) -> dict[str, Json]:
    extras = _others(fragment, _OWN_MEMBERS)
    inner = _others(function, _OWN_FUNCTION_MEMBERS)
    return {**extras, "function": inner} if inner else extras


def _others(members: JsonObject, own: Collection[str]) -> dict[str, Json]:
    return {key: one for key, one in members.items() if key not in own and one is not None}


def _is_complete(arguments: Sequence[str]) -> bool:
    return (
        bool(arguments) and arguments[0].lstrip()[:1] == "{" and arguments[-1].rstrip()[-1:] == "}"
    )


def _distinct(ids: Iterable[str]) -> list[str]:
    distinct: list[str] = []
    for number, id in enumerate(ids):
        distinct.append(id if id and id not in distinct else f"made{number:05}")
    return distinct


def _arguments_text(value: Json) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False)
