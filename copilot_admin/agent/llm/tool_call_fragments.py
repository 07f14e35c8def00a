"""Tool calls assembled from the fragments of a stream, within limits."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
import json

from copilot_admin.agent.llm.provider_errors import not_understood
from copilot_admin.agent.values.model_call import ToolCall
from copilot_admin.errors import LimitReached
from protocol.json import Json, text_of
from protocol.json_tokens import has_more_tokens

MOST_CALLS = 128  # the most tools that OpenAI lets a request offer
MOST_ARGUMENT_BYTES = 1024 * 1024
# Of one call, counted as those of a body are. A megabyte of wrong rows is 400,000, and to say of each what
# is wrong holds the interpreter for more than a second; a table of 2,000 rows of ten columns is half of this.
MOST_ARGUMENT_VALUES = 100_000
LONGEST_NAME = 200  # characters of a name or an id; OpenAI allows 64 and 40


class CallLimits:
    """Counts the calls of one answer and the bytes of their arguments."""

    def __init__(self) -> None:
        self._calls = 0
        self._bytes = 0

    def count_call(self) -> None:
        """Counts one more call.

        Raises:
            LimitReached: There are too many.
        """
        self._calls += 1
        if self._calls > MOST_CALLS:
            raise LimitReached(
                f"The model called more than {MOST_CALLS} tools in one answer, so the answer was "
                "ended. Ask for less at once."
            )

    def count_arguments(self, text: str) -> None:
        """Counts more of the arguments.

        Raises:
            LimitReached: They are too long together.
        """
        self._bytes += len(text) if text.isascii() else len(text.encode(errors="surrogatepass"))
        if self._bytes > MOST_ARGUMENT_BYTES:
            raise LimitReached(
                "The model wrote more than 1 MB of arguments for the tools it called, so the answer "
                "was ended. Ask for less at once."
            )


def check_values(arguments: str) -> None:
    """Looks how much is to be made of the arguments of one call, before anything reads them.

    Raises:
        LimitReached: They have too many values.
    """
    if has_more_tokens(arguments.encode("utf-8", "surrogatepass"), MOST_ARGUMENT_VALUES):
        raise LimitReached(
            f"The model wrote more than {MOST_ARGUMENT_VALUES:,} values as the arguments of one tool, "
            "so the answer was ended. Ask for less at once."
        )


@dataclass(slots=True)
class _Call:
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)


class ToolFragments:
    """Collects fragments of tool calls.

    A fragment belongs to the call with its index. Servers that give no index, or always the same,
    mark a new call by a new id; servers that give no id at all send each call whole, and so do some that
    give all the same index.
    """

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._latest: dict[int, _Call] = {}  # of each index
        self._limits = CallLimits()

    def add(self, fragment: Json) -> None:
        """Takes one member of a chunk's `tool_calls`.

        Raises:
            LimitReached: There are too many calls, or too much was written for them.
            ProviderBroke: The arguments are an object that is nested too deep to be written down.
        """
        if not isinstance(fragment, dict):
            return
        function = fragment.get("function")
        function = function if isinstance(function, dict) else {}
        id, name = text_of(fragment.get("id"))[:LONGEST_NAME], text_of(function.get("name"))
        arguments = _arguments(function.get("arguments"))
        index = fragment.get("index")
        index = index if isinstance(index, int) else None
        call = self._call(index, id=id, name=name, is_whole=_is_whole((arguments,)))
        call.id = call.id or id
        # Some servers repeat the whole name in every fragment.
        if name != call.name and len(call.name) < LONGEST_NAME:
            call.name = (call.name + name[:LONGEST_NAME])[:LONGEST_NAME]
        if arguments:
            self._limits.count_arguments(arguments)
            call.arguments.append(arguments)

    def calls(self) -> tuple[ToolCall, ...]:
        """The calls so far; one without an id of its own gets one, since the result must name it.

        Raises:
            LimitReached: The arguments of one have too many values.
        """
        named = [call for call in self._calls if call.name]
        ids = _distinct([call.id for call in named])
        calls = tuple(
            ToolCall(id=id, name=call.name, arguments=_unless_null("".join(call.arguments)))
            for id, call in zip(ids, named, strict=True)
        )
        for call in calls:
            check_values(call.arguments)
        return calls

    def _call(self, index: int | None, *, id: str, name: str, is_whole: bool) -> _Call:
        newest = self._calls[-1] if self._calls else None
        latest = newest if index is None else self._latest.get(index)
        if latest is not None:
            other_id = bool(id and latest.id and id != latest.id)
            # What is whole does not go on with what is whole, whatever numbers and ids they have.
            is_next = (index is None and not id) or (is_whole and _is_whole(latest.arguments))
            if not other_id and not (is_next and name and latest.name):
                return latest
        self._limits.count_call()
        made = _Call()
        self._calls.append(made)
        if index is not None:
            self._latest[index] = made
        return made


def _is_whole(arguments: Sequence[str]) -> bool:
    return (
        bool(arguments) and arguments[0].lstrip()[:1] == "{" and arguments[-1].rstrip()[-1:] == "}"
    )


def _distinct(ids: Collection[str]) -> list[str]:
    distinct: list[str] = []
    for number, id in enumerate(ids):
        made = f"made{number:05}"
        while made in ids or made in distinct:
            made += "x"
        distinct.append(id if id and id not in distinct else made)
    return distinct


def _unless_null(arguments: str) -> str:
    return "" if arguments.strip() == "null" else arguments


def _arguments(value: Json) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        raise not_understood(b"") from None
