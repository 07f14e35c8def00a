"""What a run puts out is folded into what is stored of it, and nothing is lost on the way."""

from dataclasses import replace
import json

from hypothesis import given
from hypothesis import strategies as st
import pytest

from copilot_admin.agent.values.engine_input import DataSeen, FileRead, ServerTool, Thought
from copilot_admin.agent.values.model_call import Alive, Finish, Usage, UsageSource
from copilot_admin.models import OTHER_EVENT, EventType, Outcome
from copilot_admin.transcripts.store import recorder as recording
from copilot_admin.transcripts.store.record import CLEANED, Entry, Piece, Record, fit_json
from copilot_admin.transcripts.store.recorder import LARGE, Recorder, are_large, from_pieces
from protocol.events import (
    ArtifactType,
    Citation,
    CitationCollection,
    FunctionCall,
    MessageArtifact,
    MessageChunk,
    PromptSuggestions,
    StatusUpdate,
)
from protocol.models import CallMessage, Generation
from tests.protocol.test_events import Tomorrow
from tests.transcripts.store.journaling import call_echo, call_event, ending, record_of

TABLE = MessageArtifact(
    type=ArtifactType.TABLE, uuid="u-1", artifact_name="t", description="d", content=[{"a": 1}]
)


def test_words_since_the_last_checkpoint_are_one_text():
    recorder = Recorder()
    for word in ("Hel", "lo"):
        recorder.add(MessageChunk(word), at_ms=0)
    assert recorder.unsaved() == Piece(0, "Hello", ())


def test_of_an_answer_that_no_model_ended_no_reason_is_told():
    assert record_of(MessageChunk("Hello")).finish_reason == ""


def test_text_is_joined_and_events_know_their_place():
    record = record_of(MessageChunk("Hel"), StatusUpdate(message="Step"), MessageChunk("lö"), TABLE)
    assert record.text == record.heard == "Hellö"
    assert [(entry.type, entry.text_offset, entry.at_ms) for entry in record.entries] == [
        (EventType.STATUS, 3, 10),
        (EventType.ARTIFACT, 5, 30),
    ]


@pytest.mark.parametrize(
    ("output", "kind", "payload"),
    [
        (
            CitationCollection((Citation(id="c", source_info={"type": "web"}),)),
            EventType.CITATION,
            {"citations": [{"id": "c", "source_info": {"type": "web"}}]},
        ),
        (PromptSuggestions(("More?",)), EventType.SUGGESTIONS, {"suggestions": ["More?"]}),
        (ServerTool("sum", "{}", "3"), EventType.TOOL, {"name": "sum", "arguments": "{}", "result": "3"}),
        (DataSeen("## Data: ¶a\n1"), EventType.DATA, {"text": "## Data: ¶a\n1"}),
        (FileRead(name="a", kind="txt"), EventType.FILE, {"name": "a", "type": "txt"}),
        (
            FileRead(name="a", kind="png", size=5, pages=2, pixels=(8, 4), note="n", fault="f"),
            EventType.FILE,
            {"name": "a", "type": "png", "size": 5, "pages": 2, "pixels": [8, 4], "note": "n",
             "fault": "f"},
        ),
        (Thought("Hm"), EventType.REASONING, {"text": "Hm"}),
        (Tomorrow(app={"a": 1}), OTHER_EVENT,
         {"event": "copilotTomorrow", "data": {"app": {"a": 1}, "order": 1}}),
        (Alive(), OTHER_EVENT, {"fact": "Alive", "data": {}}),
        (
            call_event(),
            EventType.FUNCTION_CALL,
            {
                "function": "get_widget_data",
                "input_arguments": call_echo().input_arguments,
                "extra_state": {"signed": "by us"},
            },
        ),
    ],
    ids=["citations", "suggestions", "tool", "data", "file", "whole file", "thought", "new event", "new fact",
         "call"],
)  # fmt: skip
def test_everything_but_text_is_an_entry(output, kind, payload):
    (entry,) = record_of(output).entries
    assert entry == Entry(type=kind, payload=payload, text_offset=0, at_ms=0)


def test_thoughts_between_two_other_things_are_one_entry():
    record = record_of(
        Thought("I "),
        Thought("think"),
        MessageChunk("Hi"),
        Thought("so"),
        StatusUpdate(message="x"),
    )
    assert [(entry.type, entry.payload.get("text")) for entry in record.entries] == [
        ("reasoning", "I think"),
        ("reasoning", "so"),
        ("status", None),
    ]


def test_the_usage_of_all_model_calls_is_added():
    record = record_of(
        Usage(input_tokens=1, cached_tokens=2, output_tokens=3, reasoning_tokens=4),
        Usage(input_tokens=10, source=UsageSource.ESTIMATED),
        Finish("length"),
    )
    summed = Usage(
        input_tokens=11,
        cached_tokens=2,
        output_tokens=3,
        reasoning_tokens=4,
        source=UsageSource.ESTIMATED,
    )
    assert record.usages == (summed,)
    assert record.finish_reason == "length"


def test_the_usage_of_each_model_is_added_by_itself():
    own = (Usage(input_tokens=1), Usage(input_tokens=10))
    other = Usage(output_tokens=5, model="small")
    record = record_of(own[0], other, own[1], other)
    sums = (Usage(input_tokens=11), Usage(output_tokens=10, model="small"))
    assert record.usages == sums


def test_without_usage_nothing_is_counted():
    record = record_of(Finish(None))
    assert (record.usages, record.finish_reason) == ((), "")


def test_a_run_that_ends_in_a_call_knows_how_the_client_repeats_it():
    assert record_of(call_event()).call == call_echo()
    assert record_of(call_event(), generation=Generation.ONE).call == CallMessage(
        "get_widget_data", {"widget_uuid": "w-1"}
    )
    assert record_of(call_event(), StatusUpdate(message="failed after it")).call is None


def test_an_old_client_hears_tables_as_text():
    record = record_of(
        MessageChunk("Look: "), TABLE, Thought("x"), MessageChunk("done"), generation=Generation.ONE
    )
    assert record.text == "Look: done"
    assert record.heard.startswith("Look: ")
    assert record.heard.endswith("done")
    assert "| a |" in record.heard


def test_bytes_are_counted_as_utf8():
    recorder = Recorder()
    for text in ("ab", "é", "\ud800"):
        recorder.add(MessageChunk(text), at_ms=0)
    assert recorder.text_bytes == 2 + 2 + 3


def test_what_no_database_takes_is_replaced_with_a_note():
    record = record_of(
        MessageChunk("a\x00b"), StatusUpdate(message="x\ud800", details=({"n": float("nan")},))
    )
    assert record.text == "a\ufffdb"
    (entry,) = record.entries
    assert entry.payload["message"] == "x\ufffd"
    assert entry.payload["details"] == [{"n": None}]
    assert record.ending.notes == (CLEANED,)
    assert fit_json({"n": float("inf"), "k": [1.5, "a"]}) == {"n": None, "k": [1.5, "a"]}


def test_nothing_of_the_content_leaves_where_none_is_kept():
    failed = ending(Outcome.FAILED, error="He said so", error_code="X", notes=("a note",))
    recorder = Recorder(keep_content=False)
    recorder.add(MessageChunk("secret"), at_ms=0)
    recorder.add(StatusUpdate(message="secret"), at_ms=5)
    assert recorder.unsaved() is None
    record = recorder.record(failed)
    assert not record.keep_content
    assert [(entry.type, entry.payload, entry.at_ms) for entry in record.entries] == [
        ("status", None, 5)
    ]
    assert (record.ending.error, record.ending.notes) == ("", ())
    assert record.ending.error_code == "X"


@pytest.mark.parametrize("keep_content", [True, False])
def test_a_run_that_cannot_be_kept_is_kept_by_its_end_alone(keep_content):
    crashed = ending(Outcome.CRASHED, error="It broke.", error_code="crash", notes=("n",))
    recorder = Recorder(keep_content=keep_content)
    recorder.add(MessageChunk("secret"), at_ms=0)
    told = crashed if keep_content else replace(crashed, error="", notes=())
    assert recorder.ending_alone(crashed) == Record(ending=told, keep_content=keep_content)


def test_what_every_database_takes_has_no_note():
    record = record_of(MessageChunk("Hellö"), StatusUpdate(message="s"), Finish("stop"))
    assert record.ending == ending()
    assert record_of(Finish("st\0p")).ending.notes == (CLEANED,)


def test_what_is_not_sent_as_an_event_is_not_heard():
    record = record_of(Thought("Hm"), MessageChunk("a"), TABLE, MessageChunk("b"))
    assert (record.text, record.heard) == ("ab", "ab")


def test_checkpoints_hold_only_what_is_new():
    recorder = Recorder()
    assert recorder.unsaved() is None
    recorder.add(MessageChunk("a"), at_ms=0)
    first = recorder.unsaved()
    recorder.add(MessageChunk("b"), at_ms=0)
    recorder.add(StatusUpdate(message="s"), at_ms=9)
    second = recorder.unsaved()
    assert (first, second.ord, second.text) == (Piece(0, "a", ()), 1, "b")
    assert recorder.unsaved() is None


WIDE = replace(TABLE, content=[{f"k{number}": number for number in range(LARGE)}])


@pytest.mark.parametrize(
    ("outputs", "is_large"),
    [
        ([TABLE] * 30, False),
        ([StatusUpdate(message="s" * 10_000)] * 3, False),
        ([WIDE], True),
        ([replace(TABLE, content=[[[1]] * 30] * 30)], True),
        ([ServerTool("t", "{}", "x" * 64 * (LARGE + 1))], True),
        ([Thought("x")] * (LARGE + 1), True),
    ],
)
def test_what_keeps_others_waiting_is_known(outputs, is_large):
    recorder = Recorder()
    for output in outputs:
        recorder.add(output, at_ms=0)
    assert recorder.is_large == is_large


def test_what_keeps_others_waiting_is_known_of_an_event_without_its_payload(monkeypatch):
    monkeypatch.setattr(recording, "content_of", lambda output: pytest.fail("it was made"))
    recorder = Recorder()
    arguments = {"rows": [{"n": number} for number in range(LARGE)]}
    recorder.add(FunctionCall(function="f", input_arguments=arguments), at_ms=0)
    assert recorder.is_large


def test_counting_what_is_large_ends_where_it_is_too_much():
    def endless():
        yield [1] * LARGE
        raise AssertionError("it was asked for more")

    assert are_large(endless())


OUTPUTS = st.one_of(
    st.text(max_size=8).map(MessageChunk),
    st.text(max_size=8).map(Thought),
    st.text(max_size=8).map(lambda text: StatusUpdate(message=text)),
    st.text(max_size=8).map(lambda text: Tomorrow(app={"text": text})),
    st.none(),  # a checkpoint
)


@given(st.lists(OUTPUTS, max_size=30))
def test_checkpoints_add_up_to_the_record(outputs):
    recorder, pieces = Recorder(), []
    for index, output in enumerate([*outputs, None]):
        if output is not None:
            recorder.add(output, at_ms=index)
        elif piece := recorder.unsaved():
            stored = json.loads(json.dumps(piece.to_json()))
            pieces.append(Piece.from_json(stored, ord=piece.ord))
    whole, folded = recorder.record(ending()), from_pieces(pieces, ending())
    assert (folded.text, folded.entries) == (whole.text, whole.entries)
    assert [piece.ord for piece in pieces] == list(range(len(pieces)))
