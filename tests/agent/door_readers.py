"""How the doors of `doors.py` read that are no function of one text."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import pytest

from copilot_admin.agent import artifact_names, citations
from copilot_admin.agent.client_functions import registry as client_functions
from copilot_admin.agent.documents import text_encodings
from copilot_admin.agent.documents.registry import UnreadableFile
from copilot_admin.agent.fetching import addresses
from copilot_admin.agent.files import wanted as wanted_files
from copilot_admin.agent.llm import fragments
from copilot_admin.agent.prompt import data_text
from copilot_admin.agent.toolkits import ranking
from copilot_admin.agent.toolkits.returns import date_columns
from copilot_admin.agent.toolkits.table_operations import cells
from copilot_admin.errors import LimitReached
from copilot_admin.redaction import kinds, redactor
from copilot_admin.redaction.rules import Rules
from copilot_admin.rendering import markdown
from protocol import long_texts
from protocol.generations import Generation
from protocol.json import JsonObject
from protocol.messages import DataItem, HumanMessage, ResultMessage, SourceData
from protocol.query import ContextItem, Query
from protocol.widgets import Widget, WidgetParam, Widgets
from tests.agent.engine_inputs import make_spec

PIECE = 4  # characters, as a model says them


def in_pieces(reader: type) -> Callable[[Any], object]:
    """Feeds a reader of streams a long text in small pieces."""

    def read(text: Any) -> None:
        one = reader()
        for start in range(0, len(text), PIECE):
            list(one.feed(text[start : start + PIECE]))

    return read


def encoded(read: Callable[[bytes], object]) -> Callable[[str], object]:
    return lambda text: read(text.encode())


def as_if_new(read: Callable[[str], object]) -> Callable[[str], object]:
    """Reads an address that the library does not remember from the time before."""

    def reading(text: str) -> None:
        urlsplit.cache_clear()  # type: ignore[attr-defined]  # not in the stubs
        read(text)

    return reading


def led_from_here(to: str) -> None:
    with suppress(ValueError):
        addresses.led_to("https://a.example/b", to)


def read_in_pieces(body: bytes) -> None:
    """Takes out texts that count as long, and reads one that the body is."""
    with pytest.MonkeyPatch.context() as patch, suppress(ValueError):
        patch.setattr(long_texts, "LONG", 3)
        list(long_texts._long_ones(body))
        list(long_texts._read(body, 0, len(body)))


def put_together(text: str) -> None:
    calls = fragments.ToolFragments()
    for number in range(len(text)):
        calls.add({"index": number % 100, "function": {"name": "n", "arguments": ""}})
        calls.add({"index": 0, "function": {"name": f"n{number}", "arguments": text[:1]}})
    calls.calls()


def listed_tools(text: str) -> None:
    """Tools of the client whose names are all the same, or numbers of it, or differ at their ends."""
    endings = [text[: one % 60] + f"{one:05}" for one in range(len(text) // 30)]
    names = ["t"] * (len(text) // 30) + [f"t_{one}" for one in range(len(text) // 30)]
    tools = tuple({"name": name, "server_id": str(one)} for one, name in enumerate(names + endings))
    query = Query(messages=(HumanMessage("q"),), tools=tools)
    situation = client_functions.Situation(spec=make_spec(), query=query)
    client_functions.offers_in(situation, taken=())


def sent_items(text: str) -> None:
    """Data in the context: an item for some characters of the text."""
    item = DataItem(content="x", data_format={"data_type": "csv"})
    sent = ContextItem(name="Rows", data=SourceData((item,) * (len(text) // 8)))
    wanted_files.wanted_in(Query(messages=(HumanMessage("q"),), context=(sent,)))


def date_column(text: str) -> None:
    """A date as long as the text, and a column of as many dates."""
    date_columns.moments([text], [])
    date_columns.moments([text[:20], "1/2/2024", "Jan 3, 2024", 1706659200] * (len(text) // 8), [])


def numbers_of_a_column(text: str) -> None:
    """A number as long as the text, and a column of as many."""
    for cell in (text, *[text[:50]] * (len(text) // 8)):
        cells.number_of(cell)
        cells.decimal_comma(cell)


def until_refused(read: Callable[[Any], object]) -> Callable[[Any], object]:
    """Reads as far as the limit of calls and arguments lets it."""

    def reading(text: Any) -> None:
        with suppress(LimitReached):
            read(text)

    return reading


def decoded(encoding: str) -> Callable[[str], object]:
    """Reads a text file, as far as it is one."""

    def reading(text: str) -> None:
        with suppress(UnreadableFile, ValueError):
            text_encodings.decode_text(text.encode(encoding))

    return reading


def ranked(text: str) -> None:
    words = [f"w{number}" for number in range(len(text))]  # all different, in question and texts
    ranking.scores(" ".join(words), words)


def wide_table(text: str) -> None:
    """As many columns as rows, of which only the first has cells."""
    side = len(text) // 8
    markdown.safe_html(f"{'|a' * side}|\n{'|-' * side}|\n" + "|\n" * side)


def cited(text: str) -> None:
    """Very many sources of as many widgets, and one source with as many files."""
    numbers = range(len(text) // 8)
    names = [f"{number}.pdf" for number in numbers]
    asked = [{"origin": "o", "id": f"w{number}", "input_args": {}} for number in numbers]
    several = {"origin": "o", "id": "w0", "input_args": {"file": names}}
    items = (DataItem(content="1", data_format={"filename": name}) for name in names)
    result = ResultMessage(
        "get_widget_data",
        {"data_sources": [*asked, several]},
        (*(SourceData((DataItem(content="1"),)),) * len(numbers), SourceData(tuple(items))),
    )
    split = WidgetParam(name="file", multi_select=True, split_on_citation=True)
    widgets = tuple(
        Widget(origin="o", widget_id=f"w{number}", params=(split,)) for number in numbers
    )
    query = Query(
        messages=(HumanMessage("x"), result),
        generation=Generation.THREE,
        widgets=Widgets(primary=widgets),
    )
    all(citations.cited_widgets(query, answer_id=UUID(int=7), answer="x"))


def citing(text: str) -> None:
    """A source that brings very many citations."""
    given: tuple[JsonObject, ...] = tuple(
        {"source_info": {"type": "web", "name": str(number)}} for number in range(len(text) // 8)
    )
    result = ResultMessage("execute_agent_tool", {}, (SourceData((), given),))
    query = Query(messages=(HumanMessage("x"), result))
    all(citations.cited_widgets(query, answer_id=UUID(int=7)))


def named(text: str) -> None:
    """Very many artifacts of one name, half of the names with numbers taken."""
    size = len(text) // 8
    names = artifact_names.ArtifactNames(f"A {number}" for number in range(size))
    for _ in range(size):
        names.free("A")


def of_many_items(text: str) -> None:
    data_text.told_of(SourceData((DataItem(content="1"),) * len(text)), limit=10)


def of_personal_data(kind: kinds.DataKind, text: str) -> object:
    return redactor.redacted([text], Rules((kind,)))


def every_place(text: str) -> None:
    """Where each word of a text is once personal data was taken out of it."""
    found = redactor.told([text], Rules((kinds.DataKind.EMAIL,)))[text]
    for place in range(0, len(text), 8):
        found.moved(place)
