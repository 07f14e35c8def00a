"""What a run puts out is folded into what is stored of it, and nothing is lost on the way."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from enum import Enum
import json
from typing import Any
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st
import pytest

from copilot_admin.agent.values.answer_request import (
    ComponentCalled,
    DataSeen,
    FileRead,
    Output,
    ToolExchange,
)
from copilot_admin.agent.values.model_call import Alive, ReasoningDelta, Usage, UsageSource
from copilot_admin.models import OTHER_EVENT, EventType, Outcome
from copilot_admin.transcripts.matching.messages import PUBLIC_KEY, HashChain
from copilot_admin.transcripts.store.recorder import (
    CLEANED,
    Ending,
    Piece,
    Recorder,
    Recording,
    RunEnd,
    clean_event,
    finalize,
    join_pieces,
)
from copilot_admin.transcripts.store.run_events import RunEvent
from protocol.events import (
    ArtifactType,
    Citation,
    CitationCollection,
    MessageArtifact,
    MessageChunk,
    PromptSuggestions,
    StatusUpdate,
)
from protocol.json import clean_text
from protocol.models import AiMessage, CallMessage, Generation
from tests.protocol.test_events import Tomorrow
from tests.transcripts.store.journaling import START, call_echo, call_event, ending, recorder_of


class Sky(Enum):
    CLEAR = "clear"


@dataclass(frozen=True)
class Weather:
    """An output that is no event, of the values that a class may have."""

    day: date
    sky: Sky
    winds: Mapping[int, set[float]]
    picture: bytes
    source: type
    key: str = field(repr=False)


def recording_of(*outputs: Output, **options: Any) -> Recording:
    return recorder_of(*outputs, **options).recording()


TABLE = MessageArtifact(
    type=ArtifactType.TABLE, uuid="u-1", artifact_name="t", description="d", content=[{"a": 1}]
)


FACTS = {"name": "a", "size": 5, "pages": 2, "note": "n", "fault": "f"}
CALLED = {
    "name": "sum", "version": "v1", "arguments": {"a": 1}, "result": "3", "outputs": 0, "ms": 0,
}  # fmt: skip


@pytest.mark.parametrize(
    ("output", "kind", "payload"),
    [
        (CitationCollection((Citation(id="c", source_info={"type": "web"}),)), EventType.CITATION,
         {"citations": [{"id": "c", "source_info": {"type": "web"}}]}),
        (PromptSuggestions(("More?",)), EventType.SUGGESTIONS, {"suggestions": ["More?"]}),
        (ToolExchange("sum", "{}", "3"), EventType.TOOL, {"name": "sum", "arguments": "{}", "result": "3"}),
        (DataSeen("## Data: ¶a\n1"), EventType.DATA, {"text": "## Data: ¶a\n1"}),
        (FileRead(name="a", kind="txt"), EventType.FILE, {"name": "a", "type": "txt"}),
        (FileRead(kind="png", pixels=(8, 4), **FACTS), EventType.FILE,
         {**FACTS, "type": "png", "pixels": [8, 4]}),
        (ComponentCalled(**CALLED), EventType.COMPONENT, CALLED),
        (ReasoningDelta("Hm"), EventType.REASONING, {"text": "Hm"}),
        (Tomorrow(app={"a": 1}), OTHER_EVENT,
         {"event": "copilotTomorrow", "data": {"app": {"a": 1}, "order": 1}}),
        (Alive(), OTHER_EVENT, {"fact": "Alive", "data": {}}),
        (Weather(date(2026, 11, 20), Sky.CLEAR, {1: {2.5}}, b"PNG", Sky, key="secret"), OTHER_EVENT,
         {"fact": "Weather", "data": {"day": "2026-11-20", "sky": "clear", "winds": {"1": [2.5]},
                                      "picture": "3 bytes", "source": "<enum 'Sky'>"}}),
        ([None, (2,), b"ab", str], OTHER_EVENT,
         {"fact": "list", "data": [None, [2], "2 bytes", str(str)]}),
        (call_event(), EventType.FUNCTION_CALL,
         {"function": "get_widget_data", "input_arguments": call_echo().input_arguments,
          "extra_state": {"signed": "by us"}}),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_everything_but_text_is_an_event(output, kind, payload):
    (event,) = recording_of(output).events
    assert event == RunEvent(type=kind, payload=payload, text_offset=0, at_ms=0)


def test_a_run_that_ends_in_a_call_knows_how_the_client_repeats_it():
    assert recording_of(call_event()).call == call_echo()
    assert recording_of(call_event(), generation=Generation.ONE).call == CallMessage(
        "get_widget_data", {"widget_uuid": "w-1"}
    )
    assert recording_of(call_event(), StatusUpdate(message="failed after it")).call is None


def test_an_old_client_hears_tables_as_text():
    said = (MessageChunk("Look: "), TABLE, ReasoningDelta("x"), MessageChunk("done"))
    record = recording_of(*said, generation=Generation.ONE)
    assert record.text == "Look: done"
    before, table, after = record.client_text.partition("| a |")
    assert (before.startswith("Look: "), bool(table), after.endswith("done")) == (True,) * 3


OUTPUTS = st.one_of(
    st.text(max_size=8).map(MessageChunk),
    st.text(max_size=8).map(ReasoningDelta),
    st.text(max_size=8).map(lambda text: StatusUpdate(message=text)),
    st.text(max_size=8).map(lambda text: Tomorrow(app={"text": text})),
    st.none(),  # a checkpoint
)


@given(st.lists(OUTPUTS, max_size=30))
def test_checkpoints_add_up_to_the_recording(outputs):
    recorder, pieces = Recorder(), []
    for index, output in enumerate([*outputs, None]):
        if output is not None:
            recorder.add(output, at_ms=index)
        elif piece := recorder.take_unsaved():
            stored = json.loads(json.dumps(piece.to_json()))
            pieces.append(Piece.from_json(stored, ord=piece.ord))
    whole, joined = recorder.recording(), join_pieces(pieces)
    assert joined.text == clean_text(whole.text)
    assert joined.events == tuple(map(clean_event, whole.events))
    assert [piece.ord for piece in pieces] == list(range(len(pieces)))


RUN = UUID(int=7)
SIGNED = "https://files.test/a.pdf?X-Amz-Signature=canary&page=1"
UNSIGNED = "https://files.test/a.pdf?page=1"
CALL = CallMessage("get_widget_data", {"api_key": "canary", "widget": "w"})


ENDING = ending(
    Outcome.FAILED, error=f"No answer from {SIGNED}.", error_code="Broke", notes=("A note.",)
)
RECORDING = Recording(
    text=f"See {SIGNED}",
    client_text=f"See {SIGNED} | a |",
    call=CALL,
    finish_reason="f" * 51,
    usages=(Usage(input_tokens=1, source=UsageSource.ESTIMATED),),
    events=(RunEvent(type="status", payload={"message": SIGNED}, text_offset=3, at_ms=40),),
)


def finalized(*, ended: Ending = ENDING, keep_content: bool = True, **changes: Any) -> RunEnd:
    recording = replace(RECORDING, **changes)
    return finalize(recording, ended, run_id=RUN, at=START, keep_content=keep_content)


def test_what_is_kept_has_no_secrets():
    chain = HashChain(PUBLIC_KEY, 12, "key:3")
    text, call = chain.hash_messages([AiMessage(RECORDING.client_text), CALL])
    assert finalized() == RunEnd(
        run_id=RUN,
        ended_at=START,
        ending=replace(ENDING, error=f"No answer from {UNSIGNED}."),
        finish_reason="f" * 50,
        text=f"See {UNSIGNED}",
        text_digest=text.digest.hex(),
        call={"function": "get_widget_data", "input_arguments": {"widget": "w"}},
        call_digest=call.digest.hex(),
        events=(RunEvent(type="status", payload={"message": UNSIGNED}, text_offset=3, at_ms=40),),
        usages=RECORDING.usages,
        keep_content=True,
    )


def test_tokens_are_made_fit_for_their_columns():
    end = finalized(usages=(Usage(input_tokens=-1, cached_tokens=2**31, output_tokens=2**31 - 1),))
    assert list(end.tokens.values()) == [0, 2**31 - 1, 2**31 - 1, 0]


def test_what_no_database_takes_is_replaced_with_a_note():
    event = replace(RECORDING.events[0], payload={"message": "x\ud800", "n": [float("nan")]})
    end = finalized(text="a\0b", events=(event,))
    assert end.text == "a\ufffdb"
    assert end.events[0].payload == {"message": "x\ufffd", "n": [None]}
    assert end.ending.notes == ("A note.", CLEANED)
    assert finalized(finish_reason="st\0p").ending.notes == ("A note.", CLEANED)
