"""Components that a model calls: what it reads, what the client is shown, what is recorded."""

from dataclasses import replace
import json
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import pytest

from copilot_admin.agent.components.inputs import DOCUMENTS, DocumentOrigin, SourceDocument
from copilot_admin.agent.values.answer_request import AnswerRequest, ComponentCalled, Output
from copilot_admin.agent.values.model_call import Finish, ModelMessage, ModelRole, Usage
from copilot_admin.agent.values.spec import ComponentUse
from protocol.components import ComponentOutput, create_output, create_outputs
from protocol.events import (
    ArtifactType,
    Citation,
    CitationCollection,
    MessageArtifact,
    MessageChunk,
    StatusLevel,
    StatusUpdate,
)
from protocol.models import AiMessage, ContextItem, FileReference, HumanMessage, SourceData
from tests.agent.answer_requests import NOW, data, make_query, make_request, make_spec, outputs_of
from tests.agent.components.sample_components import sample_components
from tests.agent.components.test_base import counted
from tests.agent.scripted import ScriptedProvider, Step, call, text

__all__ = ["sample_components"]
pytestmark = pytest.mark.usefixtures("sample_components")

LEG = uuid5(NAMESPACE_URL, f"chat-1 {NOW.isoformat()}")
CALL = uuid5(LEG, "artifact 1")
MADE = uuid5(CALL, "artifact 1")
STARTED = StatusUpdate(message="Running Player")


def playing(*outputs: ComponentOutput | Exception, **changes: Any) -> AnswerRequest:
    """Return a request whose model calls the player once, and then says "Done."."""
    provider = ScriptedProvider([call("player"), text("Done.")])
    use = ComponentUse(name="player", version="v1", config={"outputs": outputs})  # type: ignore[dict-item]
    return make_request(provider, spec=make_spec(components=(use,), **changes))


def told(request: AnswerRequest) -> tuple[list[Output], str]:
    """What came of a request, and the text of the tool's message to the model."""
    found = outputs_of(request)
    provider = request.provider
    assert isinstance(provider, ScriptedProvider)
    (result,) = [one for one in provider.calls[-1].messages if one.role is ModelRole.TOOL]
    return found, result.text


def events(found: list[Output]) -> list[Output]:
    """The client's part of them, without the last words."""
    facts = (ComponentCalled, Usage, Finish)
    return [one for one in found if not isinstance(one, facts) and one != MessageChunk("Done.")]


def artifact(type: ArtifactType, content: Any, *, name: str = "Player", **more: Any) -> Any:
    return MessageArtifact(
        type=type,
        uuid=str(MADE),
        artifact_name=name,
        description="Gives what the test put into its configuration, and raises what it finds there.",
        content=content,
        **more,
    )


def step(message: str, **details: str) -> StatusUpdate:
    return StatusUpdate(message=message, details=(details,) if details else ())


ROWS = [{"day": "Mon", "price": 1.5}, {"day": "Tue", "price": 2}]
CHART = {"rows": ROWS, "x_key": "day", "y_keys": ["price"]}
LINK = "https://example.org/a(b)"


NOTHING = "(no output for the model)"
ROWS_TEXT = json.dumps(json.dumps(ROWS))
CODE = "```\na = 1\n```\n\n"
OBJECT = '```json\n{\n  "n": [\n    1\n  ]\n}\n```\n\n'
LINES = {"chartType": "line", "xKey": "day", "yKey": ["price"]}
SLICES = {"chartType": "pie", "angleKey": "price", "calloutLabelKey": "day"}
PICTURE = {"filename": '"x', "url": "", "base64": "aGk=", "mime_type": "image/png"}
HUGE = {"filename": "a*b", "url": "", "base64": "a" * 500_001}
NAN = '[{"a": NaN, "b": 1e999, "c": 1.5}]'
TABLE, TEXT, HTML = ArtifactType.TABLE, ArtifactType.TEXT, ArtifactType.HTML


def chart_of(params: Any) -> Any:
    return artifact(ArtifactType.CHART, ROWS, chart_params=params)


@pytest.mark.parametrize(
    ("type", "payload", "scope", "shown", "model"),
    [
        ("text", "Hello", "user", [MessageChunk("Hello"), MessageChunk("\n\n")], NOTHING),
        ("text", "", "user", [], NOTHING),
        ("text", "Hello", "llm", [step("Player gave a result", Result="Hello")], "Hello"),
        ("text", "Hello", "all", [step("Player gave a result", Result="Hello")], "Hello"),
        ("code", "a = 1", "user", [MessageChunk(CODE)], NOTHING),
        ("code", "```", "all", [artifact(TEXT, "````\n```\n````\n\n")], "```"),
        ("code", "a = 1", "llm", [], "a = 1"),
        ("json", {"data": ROWS}, "all", [artifact(TABLE, ROWS)],
         f'{{"type": "json", "text": {{"data": {ROWS_TEXT}}}}}'),
        ("json", {"data": ROWS}, "llm", [],
         f'{{"type": "json", "text": {{"data": {ROWS_TEXT}}}}}'),
        ("json", {"data": {"n": [1]}}, "user", [artifact(TEXT, OBJECT)], NOTHING),
        ("json", "no json", "user", [artifact(TEXT, "```json\nno json\n```\n\n")], NOTHING),
        ("json", NAN, "user", [artifact(TABLE, [{"a": None, "b": None, "c": 1.5}])], NOTHING),
        ("chart", {"type": "line", "data": CHART}, "user", [chart_of(LINES)], NOTHING),
        ("chart", {"type": "pie", "data": ROWS}, "user", [chart_of(SLICES)], NOTHING),
        ("chart", {"type": "radar", "data": ROWS}, "user", [artifact(TABLE, ROWS)], NOTHING),
        ("chart", {"type": "bar", "data": [{"a": "x"}]}, "user",
         [artifact(TABLE, [{"a": "x"}])], NOTHING),
        ("chart", {"type": "bar", "data": "soon"}, "user",
         [artifact(TEXT, "```json\nsoon\n```\n\n")], NOTHING),
        ("files", {"filename": "a_b.csv", "url": LINK}, "all",
         [MessageChunk("[a\\_b.csv](https://example.org/a%28b%29)\n\n")],
         f'{{"type": "files", "text": {{"filename": "a_b.csv", "url": "{LINK}"}}}}'),
        ("urls", "javascript:alert(1)", "user", [MessageChunk("javascript:alert(1)\n\n")], NOTHING),
        ("audio", {"filename": "", "url": LINK}, "user",
         [MessageChunk("[https://example.org/a(b)](https://example.org/a%28b%29)\n\n")], NOTHING),
        # A link, else the image would load by itself.
        ("image", {"filename": "", "url": LINK}, "user",
         [MessageChunk("[Image](https://example.org/a%28b%29)\n\n")], NOTHING),
        ("image", PICTURE, "all",
         [artifact(HTML, '<img src="data:image/png;base64,aGk=" alt="&quot;x">')],
         '{"type": "image", "text": {"filename": "\\"x", "mime_type": "image/png"}}'),
        ("image", HUGE, "user", [MessageChunk("a\\*b is too large to be shown.\n\n")], NOTHING),
        ("image", {"filename": "x", "url": ""}, "user", [], NOTHING),
        ("references", {}, "user", [], NOTHING),
        ("progress", {"progress": 0.256, "message": "Reading"}, "all", [step("Reading (26 %)")],
         NOTHING),
        ("thought", "Hm.", "all", [step("Player thinks", Thought="Hm.")], NOTHING),
        ("plan", {"goal": "All", "steps": [{"name": "one"}]}, "user",
         [step("Player has a plan", Goal="All", Steps='[{"name": "one"}]')], NOTHING),
        ("function_call", {"thought": "t", "name": "f", "arguments": {"a": 1}}, "user",
         [step("Player calls f", Thought="t", Name="f", Arguments='{"a": 1}')], NOTHING),
        ("browser", {"query": "q"}, "user", [step("Player uses a browser", Query="q")], NOTHING),
        ("oral_text", "la", "all", [], NOTHING),
    ],
)  # fmt: skip
def test_each_type_of_content_has_its_event(type, payload, scope, shown, model):
    found, result = told(playing(create_output(type, payload, visible_scope=scope)))
    assert events(found) == [STARTED, *shown]
    assert result == model


@pytest.mark.parametrize(
    ("scope", "changes", "shown"),
    [
        ("user", {}, [STARTED, *map(MessageChunk, ("Hel", "lo", "\n\n"))]),
        ("all", {"stream_all_text": True}, [STARTED, *map(MessageChunk, ("Hel", "lo", "\n\n"))]),
        ("llm", {}, [STARTED, step("Player gave a result", Note="Hello")]),
        ("llm", {"show_steps": False}, []),
    ],
)
def test_pieces_of_text_stream_or_become_one_step(scope, changes, shown):
    pieces = [
        create_output("text", piece, name="note", visible_scope=scope) for piece in ("Hel", "lo")
    ]
    found, result = told(playing(*pieces, **changes))
    assert events(found) == shown
    assert result == (NOTHING if scope == "user" else "Hello")


def citation(number: int, info: dict[str, Any], details: Any) -> Citation:
    id = str(uuid5(CALL, f"citation {number}"))
    return Citation(id=id, source_info={**info, "citable": True}, details=(details,))


def test_references_are_cited_once_after_the_answer():
    filing = {"source": "files", "doc_id": "10-K", "title": "Filing", "content": "Revenue rose."}
    page = {"title": "Page", "url": LINK, "date": "2026-01-02"}
    both = [create_output("references", filing), create_output("references", page)]
    found, result = told(playing(create_outputs(both), both[0]))
    from_files = {"type": "direct retrieval", "name": "Filing", "description": "Revenue rose.",
                  "origin": "files", "metadata": {"doc_id": "10-K"}}  # fmt: skip
    from_web = {"type": "web", "name": "Page", "metadata": {"url": LINK, "date": "2026-01-02"}}
    cited = (
        citation(1, from_files, {"Title": "Filing", "Content": "Revenue rose."}),
        citation(2, from_web, {"Title": "Page", "Link": LINK}),
    )
    assert found[-2:] == [CitationCollection(cited), Finish("stop")]
    lines = [line.split(" ", 1) for line in result.splitlines()]
    titles = [(number, json.loads(line)["text"]["title"]) for number, line in lines]
    assert titles == [("[1]", "Filing"), ("[2]", "Page"), ("[1]", "Filing")]


@pytest.mark.parametrize(
    ("error", "problem"),
    [
        (KeyError("x"), "The component 'player' broke down. The error has been recorded."),
        (ValueError("Write  a\nquery."), "Write a query."),
    ],
)
def test_user_and_model_are_told_of_an_error_and_the_answer_goes_on(error, problem):
    found, result = told(playing(create_output("text", "half"), error))
    assert events(found) == [
        STARTED,
        step("Player gave a result", Result="half"),
        StatusUpdate(message=f"Player failed: {problem}", level=StatusLevel.WARNING),
    ]
    assert result == f"half\nerror: {problem}"
    assert found[-2:] == [MessageChunk("Done."), Finish("stop")]
    called = [one for one in found if isinstance(one, ComponentCalled)]
    assert [(one.error, one.result) for one in called] == [(problem, result)]


def asking(script: list[Step], *names: str, **changes: Any) -> AnswerRequest:
    uses = tuple(ComponentUse(name=name, version="v1") for name in names)
    return make_request(ScriptedProvider(script), spec=make_spec(components=uses), **changes)


@pytest.mark.parametrize(
    ("arguments", "sentence", "calls"),
    [
        ("{}", "Wrong arguments for echo: query is missing.", 1),
        ("{", "The arguments of 'echo' are not valid JSON: ", 0),
        ("[1]", "The arguments of 'echo' must be a JSON object.", 0),
    ],
)
def test_wrong_arguments_never_reach_the_component(arguments, sentence, calls):
    made, finish = call("echo").actions
    wrong = Step((replace(made, arguments=arguments), finish))
    found, result = told(asking([wrong, text("Done.")], "echo"))
    assert result.startswith(sentence)
    assert [one.outputs for one in found if isinstance(one, ComponentCalled)] == [0] * calls


def test_a_component_asks_the_copilots_model_and_its_tokens_are_counted():
    answered = counted("An ", "answer.", tokens=(5, 2))
    request = asking([call("asker", query="Why?"), answered, text("Done.")], "asker")
    found, result = told(request)
    assert result == "An answer."
    assert request.provider.calls[1].messages == (ModelMessage(role=ModelRole.USER, text="Why?"),)
    usage = {"name": "small", "prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}
    (called,) = (one for one in found if isinstance(one, ComponentCalled))
    assert called.usage == (usage,)
    assert Usage(input_tokens=5, output_tokens=2, model="small") in found


def test_a_component_is_passed_the_question_the_history_and_the_documents():
    seen: dict[str, Any] = {}
    item = ContextItem(name="Notes", data=data("Buy low."))
    archive = FileReference(url=LINK, data_format={"data_type": "zip", "filename": "a.zip"})
    linked = ContextItem(name="Archive", data=SourceData((archive,)))
    chat = (HumanMessage("One"), AiMessage("Two"), AiMessage("Three"), HumanMessage("Four"))
    query = make_query(*chat, context=(item, linked), workspace_options={"tone": "short"})
    use = ComponentUse(name="witness", version="v1", config={"seen": seen})
    script = [call("witness"), call("witness", call_id="call-2"), text("Done.")]
    spec = make_spec(components=(use,), parameters={"temperature": 0.5, "max_tokens": 9})
    who = {"principal": "key:7", "user_id": "ada", "user_email": "ada@example.com"}
    outputs_of(make_request(ScriptedProvider(script), query=query, spec=spec, **who))
    seen.pop("_sys_model")
    assert seen == {
        "_sys_origin_query": "Four",
        "_sys_chat_history": [
            {"role": "user", "content": "One"},
            {"role": "assistant", "content": "Two\n\nThree"},
        ],
        "_sys_conversation_id": "chat-1",
        "_sys_uid": "key:7",
        "_sys_end_user_id": "ada",
        "_sys_custom_variables": {"tone": "short"},
        "_sys_file_names": [],
        "_sys_file_urls": {"a.zip": LINK},
        "_sys_uploaded_files": [{"filename": "a.zip", "url": LINK, "file_id": ""}],
        "_sys_current_time": NOW.isoformat(),
        "_sys_traceid": "chat-1",
        "_sys_name": "witness",
        "_sys_used_tool": ["witness"],
        "model_configs": {"temperature": 0.5},
        DOCUMENTS: (SourceDocument("Notes", DocumentOrigin.CONTEXT, (("", "Buy low."),)),),
    }
