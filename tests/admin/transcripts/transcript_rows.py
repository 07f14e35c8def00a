"""Conversations as reviewers meet them, made by the journal itself."""

from collections.abc import Sequence
import json
from typing import Any
from uuid import uuid4

from copilot_admin.agent.values.answer_request import DataSeen, FileRead, ToolExchange
from copilot_admin.agent.values.model_call import ReasoningDelta
from copilot_admin.models import Conversation, Outcome
from protocol.events import (
    ArtifactType,
    Citation,
    CitationCollection,
    FunctionCall,
    MessageArtifact,
    PromptSuggestions,
    StatusLevel,
    StatusUpdate,
)
from protocol.json import Json, JsonObject, layout
from protocol.models import (
    AiMessage,
    CallMessage,
    CommandResult,
    ContextItem,
    DataItem,
    FileReference,
    Generation,
    HumanMessage,
    Message,
    ResultMessage,
    SourceData,
    SourceError,
    Widget,
    WidgetParam,
    Widgets,
)
from protocol.serializers import echo_of
from tests.transcripts.store.journaling import Asked, Client, ai, ending, human

PRICES = [
    {"date": f"2026-11-{day:02}", "close": 180.5 + day, "volume": 1000 * day, "note": f"day {day}"}
    for day in range(1, 31)
]


def call(**arguments: Json) -> FunctionCall:
    source = {"widget_uuid": "w-1", "origin": "OpenBB API", "id": "prices", "input_args": arguments}
    failing = {"widget_uuid": "w-2", "origin": "OpenBB API", "id": "news", "input_args": {}}
    return FunctionCall(
        function="get_widget_data",
        input_arguments={"data_sources": [source, failing]},
        extra_state={"signed": "by us"},
    )


def echo(event: FunctionCall) -> CallMessage:
    return echo_of(event, Generation.THREE)


def results(event: FunctionCall, *contents: str) -> ResultMessage:
    data = tuple(SourceData((DataItem(content=content),)) for content in contents)
    failed = SourceError("not_found", "The widget is gone.")
    return ResultMessage(event.function, echo(event).input_arguments, (*data, failed), {})


def artifact(
    kind: ArtifactType, content: Any, name: str = "Prices", **more: Any
) -> MessageArtifact:
    return MessageArtifact(
        type=kind,
        uuid=str(uuid4()),
        artifact_name=name,
        description=more.pop("description", "Daily closes"),
        content=content,
        **more,
    )


def chart(
    kind: str, rows: Sequence[JsonObject], *y: str, x: str = "date", name: str = "Chart"
) -> MessageArtifact:
    params: JsonObject = (
        {"chartType": kind, "angleKey": y[0], "calloutLabelKey": x}
        if kind in ("pie", "donut")
        else {"chartType": kind, "xKey": x, "yKey": list(y)}
    )
    return artifact(ArtifactType.CHART, list(rows), f"{name} {kind}", chart_params=params)


def citations(name: str = "Apple prices", **arguments: Json) -> CitationCollection:
    info: JsonObject = {
        "type": "widget",
        "origin": "OpenBB API",
        "widget_id": "prices",
        "name": name,
        "metadata": {"input_args": arguments},
    }
    return CitationCollection(
        (Citation(id=str(uuid4()), source_info=info, details=({"ticker": "AAPL"},)),)
    )


def rich_conversation(**options: Any) -> Conversation:
    """A conversation with everything that a transcript can hold."""
    import json

    client = Client(trace_id=f"chat-{uuid4()}", **options)
    asked_for = call(symbol="AAPL")
    prices = layout(PRICES[:4])
    question = "How did **Apple** do in November?\nPlease with a chart."
    client.ask(question).answer(asked_for)
    client.ask(question, echo(asked_for), results(asked_for, json.dumps(PRICES))).answer(
        FileRead(name="chart.png", kind="png", size=34_512, pixels=(800, 600)),
        FileRead(name="report.pdf", kind="pdf", size=2_100_000, pages=12),
        FileRead(name="old.pdf", kind="pdf", fault="The file 'old.pdf' could not be read."),
        DataSeen('## Data: ¶user\n{\n  "name": "Ada"\n}\nWho asks.'),
        *(DataSeen(f"## Data: ¶widget_data\n_instance: w-{n}\n{prices}") for n in (1, 2)),
        ReasoningDelta("The user wants closes. "),
        ReasoningDelta("I have thirty rows."),
        StatusUpdate(message="Reading Apple prices", details=({"symbol": "AAPL", "rows": 30},)),
        "Apple rose **16 %** in November:\n\n",
        chart("line", PRICES, "close", "volume"),
        "\nThe largest days, and [the report](https://example.org/report):\n\n| day | close |\n|---|--:|\n| 30 | 210.5 |\n\n",
        artifact(ArtifactType.TABLE, PRICES),
        ToolExchange("table", {"name": "Prices", "rows": PRICES[:3]}, "The table is shown."),
        "![a chart](https://tracker.example/pixel.png)\n\n> Past results say little.\n\n```python\nprint('done')\n```\n",
        citations(symbol="AAPL"),
        PromptSuggestions(("And Microsoft?", "Why did it rise?")),
    )
    history = [human(question), ai("Apple rose")]
    client.ask(*history, "And Microsoft?").answer(
        StatusUpdate(message="Not all data could be read", level=StatusLevel.WARNING),
        "Microsoft stayed flat.",
        chart("bar", PRICES[:8], "close", "volume"),
        chart("pie", PRICES[:5], "volume"),
        chart("donut", PRICES[:12], "volume"),
        chart("scatter", PRICES, "close", x="volume"),
        artifact(ArtifactType.HTML, "<h1>Hi</h1><p>Plain <b>text</b></p>", "Page"),
        artifact(ArtifactType.TEXT, "Just a note.", "Note"),
    )
    client.ask(*history, "And Microsoft?").answer("Microsoft stayed flat, on second thought.")
    client.ask(*history, "And Nvidia?").answer(
        "Nvidia",
        ended=ending(
            Outcome.FAILED,
            error="The provider is down. Try again.",
            error_code="ProviderUnavailable",
        ),
    )
    arabic = client.ask(*history, "And Nvidia?", ai("Nvidia"), "ماذا عن أرامكو؟").answer(
        "ارتفعت **أرامكو** بنسبة 3٪."
    )
    return arabic.conversation


def long_conversation(
    turns: int, *, rows: Sequence[JsonObject] = (), **options: Any
) -> Conversation:
    """A conversation of many turns, each with a step, a table and a call of a tool."""
    client = Client(trace_id=f"chat-{uuid4()}", **options)
    said: list[Any] = []
    asked: Asked | None = None
    for number in range(turns):
        said.append(human(f"Question {number}?"))
        outputs = [artifact(ArtifactType.TABLE, list(rows), f"Table {number}")] if rows else []
        answer = f"Answer **{number}** with some words to read."
        asked = client.ask(*said).answer(
            StatusUpdate(message="Reading"), answer, *outputs, ToolExchange("clock", {}, "12:00")
        )
        said.append(ai(answer))
    assert asked is not None
    return asked.conversation


CALLED = ("get_widget_data", "add_widget_to_dashboard", "execute_agent_tool")


def earlier_messages(text: str) -> list[Message]:
    """Questions, answers, calls and results that this server is told of."""
    said: list[Message] = [HumanMessage(text, agent_id=text), AiMessage(text, agent_id=text)]
    for function in (*CALLED, text):
        arguments = _arguments(text)
        said += [CallMessage(function, arguments), ResultMessage(function, arguments, _data(text))]
    return said


def what_it_brings(text: str) -> dict[str, Any]:
    """What a query has besides its messages."""
    widget = Widget(
        origin=text, widget_id=text, uuid=text, name=text, description=text, source=text,
        params=(WidgetParam(name=text, description=text, current_value=text, options=(text,)),),
        metadata={text: text}, category=text, sub_category=text, columns=(text,),
    )  # fmt: skip
    tab = {"tab_id": text, "name": text, "widgets": [{"widget_uuid": text, "name": text}]}
    return {
        "widgets": Widgets(primary=(widget,), secondary=(widget,), extra=(widget,)),
        "context": (ContextItem(uuid=text, name=text, description=text, metadata={text: text}),),
        "workspace_options": {text: text},
        "workspace_state": {"current_dashboard_info": {"name": text, "tabs": [tab]}, text: text},
    }


def _arguments(text: str) -> dict[str, Any]:
    source = {"widget_uuid": text, "origin": text, "id": text, "input_args": {text: text}}
    return {"data_sources": [source], "server_id": text, "tool_name": text, text: [text]}


def _data(text: str) -> tuple[SourceData | SourceError | CommandResult, ...]:
    rows = json.dumps([{text: text, "n": 1}, {text: [text], "n": text}])
    items = (
        DataItem(content=rows, data_format={"data_type": "object", "parse_as": "table"}),
        DataItem(content=rows, data_format={"data_type": text, "filename": text}),
        DataItem(content=text),
        FileReference(url=text, data_format={"data_type": "pdf", "filename": text}),
        FileReference(url=f"https://a.test/{text}", data_format={"filename": text}),
    )
    cited = ({"source_info": {"name": text}, "details": [{text: text}]},)
    return (
        SourceData(items, cited),
        SourceError(text, text),
        CommandResult(text, text, {text: text}, {"widget_uuid": text}),
    )
