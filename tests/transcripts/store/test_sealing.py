"""A finished run in the form in which it is stored: nothing in it that may not be kept."""

from dataclasses import replace
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from copilot_admin.agent.values.engine_input import ComponentCalled
from copilot_admin.agent.values.model_call import Usage, UsageSource
from copilot_admin.models import OTHER_EVENT, EventType, Outcome
from copilot_admin.transcripts.matching.hash_chain import HashChain
from copilot_admin.transcripts.store.contents import content_of
from copilot_admin.transcripts.store.keys import hash_key
from copilot_admin.transcripts.store.record import Entry, Record
from copilot_admin.transcripts.store.sealing import (
    LARGEST_INTEGER,
    Sealed,
    WrittenMessage,
    seal,
)
from protocol.canonical import Kind
from protocol.models import AiMessage, CallMessage
from tests.runs.test_unknown_outputs import WEATHER, WEATHER_DATA
from tests.transcripts.store.journaling import START, ending

RUN = UUID(int=7)
SIGNED = "https://files.test/a.pdf?X-Amz-Signature=canary&page=1"
UNSIGNED = "https://files.test/a.pdf?page=1"
CALL = CallMessage("get_widget_data", {"api_key": "canary", "widget": "w"})


def used(given: int, cached: int, made: int, thought: int, **more: Any) -> Usage:
    return Usage(
        input_tokens=given,
        cached_tokens=cached,
        output_tokens=made,
        reasoning_tokens=thought,
        **more,
    )


RECORD = Record(
    ending=ending(
        Outcome.FAILED,
        ms=1200,
        ttft_ms=0,
        error=f"No answer from {SIGNED}.",
        error_code="Broke",
        notes=("A note.",),
    ),
    text=f"See {SIGNED}",
    heard=f"See {SIGNED} | a |",
    call=CALL,
    finish_reason="f" * 51,
    usages=(used(1, 2, 3, 4, source=UsageSource.ESTIMATED, cost=Decimal("0.0123")),),
    entries=(Entry(type="status", payload={"message": SIGNED}, text_offset=3, at_ms=40),),
)


def sealed(**changes: Any) -> Sealed:
    return seal(replace(RECORD, **changes), run_id=RUN, at=START)


def digests(*, keep_content: bool) -> list[str]:
    """How the text and the call are recognised when they come back."""
    chain = HashChain(hash_key(keep_content=keep_content), 12, "key:3")
    return [link.digest.hex() for link in chain.hash_messages([AiMessage(RECORD.heard), CALL])]


def test_what_is_kept_has_no_secrets():
    text, call = digests(keep_content=True)
    assert sealed() == Sealed(
        run_id=RUN,
        outcome=Outcome.FAILED,
        ended_at=START,
        ms=1200,
        ttft_ms=0,
        error=f"No answer from {UNSIGNED}.",
        error_code="Broke",
        finish_reason="f" * 50,
        notes=("A note.",),
        text=f"See {UNSIGNED}",
        replies=(
            WrittenMessage(kind=Kind.TEXT, digest=text, text=f"See {UNSIGNED}"),
            WrittenMessage(
                kind=Kind.CALL,
                digest=call,
                function="get_widget_data",
                arguments={"widget": "w"},
            ),
        ),
        entries=(Entry(type="status", payload={"message": UNSIGNED}, text_offset=3, at_ms=40),),
        usages=RECORD.usages,
        keep_content=True,
    )


def test_where_no_content_is_kept_only_keyed_hashes_of_it_are_left():
    text, call = digests(keep_content=False)
    assert sealed(keep_content=False) == replace(
        sealed(),
        error="",
        notes=(),
        text="",
        replies=(
            WrittenMessage(kind=Kind.TEXT, digest=text),
            WrittenMessage(kind=Kind.CALL, digest=call),
        ),
        entries=(Entry(type="status", payload=None, text_offset=3, at_ms=40),),
        keep_content=False,
    )


def test_a_run_that_said_nothing_has_no_messages_and_no_tokens():
    end = sealed(text="", heard=" \n", call=None, usages=(), ending=ending(ttft_ms=None))
    assert (end.replies, end.is_call, end.ttft_ms, end.usage_source) == ((), False, None, "")
    assert set(end.tokens.values()) == {0}


def test_the_tokens_of_all_models_are_those_of_the_run():
    end = sealed(
        usages=(used(1, 2, 3, 4), used(5, 0, 6, 0, source=UsageSource.ESTIMATED, model="b"))
    )
    assert end.tokens == {
        "input_tokens": 6,
        "cached_tokens": 2,
        "output_tokens": 9,
        "reasoning_tokens": 4,
    }
    assert end.usage_source == "estimated"


def test_the_name_of_a_model_can_be_stored():
    (usage,) = sealed(usages=(used(1, 0, 1, 0, model="m\0" + "x" * 300),)).usages
    assert usage.model == "m\ufffd" + "x" * 198


def test_only_a_run_that_ends_in_a_call_is_one():
    assert [sealed(call=call).is_call for call in (CALL, None)] == [True, False]


@pytest.mark.parametrize(
    ("number", "fits"), [(-1, 0), (0, 0), (1, 1), (2**31 - 1, 2**31 - 1), (2**31, 2**31 - 1)]
)
def test_numbers_are_made_fit_for_their_columns(number, fits):
    entry = replace(RECORD.entries[0], text_offset=number, at_ms=number)
    end = sealed(
        ending=ending(ms=number, ttft_ms=number),
        usages=(used(number, number, number, number),),
        entries=(entry,),
    )
    assert (end.ms, end.ttft_ms, set(end.tokens.values())) == (fits, fits, {fits})
    assert (end.entries[0].text_offset, end.entries[0].at_ms) == (fits, fits)
    assert LARGEST_INTEGER == 2_147_483_647


def test_a_written_message_is_what_was_kept_of_it():
    text, call = sealed().replies
    assert text.message == AiMessage(f"See {UNSIGNED}")
    assert call.message == CallMessage("get_widget_data", {"widget": "w"})
    bare = WrittenMessage(kind=Kind.CALL, digest="")
    assert bare.message == CallMessage("", {})


CALLED = ComponentCalled(name="sum", version="v1", arguments={"a": 1}, result="3", outputs=0, ms=0)


@pytest.mark.parametrize(
    ("output", "kind", "payload"),
    [
        (
            CALLED,
            EventType.COMPONENT,
            {"name": "sum", "version": "v1", "arguments": {"a": 1}, "result": "3", "outputs": 0,
             "ms": 0},
        ),
        (
            replace(CALLED, usage=({"name": "m"},), metrics=({"k": 2},), error="It broke."),
            EventType.COMPONENT,
            {"name": "sum", "version": "v1", "arguments": {"a": 1}, "result": "3", "outputs": 0,
             "ms": 0, "usage": ({"name": "m"},), "metrics": ({"k": 2},), "error": "It broke."},
        ),
        (WEATHER, OTHER_EVENT, {"fact": "Weather", "data": WEATHER_DATA}),
        ("words", OTHER_EVENT, {"fact": "str", "data": "words"}),
        (bytearray(b"ab"), OTHER_EVENT, {"fact": "bytearray", "data": "2 bytes"}),
        ([None, True, 1, 1.5, (2,)], OTHER_EVENT,
         {"fact": "list", "data": [None, True, 1, 1.5, [2]]}),
        (CALLED.__class__, OTHER_EVENT, {"fact": "type", "data": str(ComponentCalled)}),
    ],
    ids=["component", "component with all", "dataclass", "text", "bytes", "list", "class"],
)  # fmt: skip
def test_an_output_is_kept_with_what_there_is_of_it(output, kind, payload):
    assert content_of(output) == (kind, payload)


def test_what_a_model_wrote_to_a_component_is_not_copied_in_the_event_loop():
    arguments = {"rows": [1, 2]}
    _, payload = content_of(replace(CALLED, arguments=arguments))
    assert payload["arguments"] is arguments
