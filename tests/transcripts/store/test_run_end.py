"""The end of a run as it is stored has nothing that may not be kept."""

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from copilot_admin.agent.values.model_call import Usage, UsageSource
from copilot_admin.models import Outcome
from copilot_admin.transcripts.matching.messages import HashChain, hash_key
from copilot_admin.transcripts.store.run_end import (
    CLEANED,
    Ending,
    Recording,
    RunEnd,
    RunEvent,
    finalize,
)
from protocol.models import AiMessage, CallMessage
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


ENDING = ending(
    Outcome.FAILED,
    ms=1200,
    ttft_ms=0,
    error=f"No answer from {SIGNED}.",
    error_code="Broke",
    notes=("A note.",),
)
RECORDING = Recording(
    text=f"See {SIGNED}",
    client_text=f"See {SIGNED} | a |",
    call=CALL,
    finish_reason="f" * 51,
    usages=(used(1, 2, 3, 4, source=UsageSource.ESTIMATED),),
    events=(RunEvent(type="status", payload={"message": SIGNED}, text_offset=3, at_ms=40),),
)


def finalized(*, ended: Ending = ENDING, keep_content: bool = True, **changes: Any) -> RunEnd:
    recording = replace(RECORDING, **changes)
    return finalize(recording, ended, run_id=RUN, at=START, keep_content=keep_content)


def digests(*, keep_content: bool) -> list[str]:
    """How the text and the call are recognised when they come back."""
    chain = HashChain(hash_key(keep_content=keep_content), 12, "key:3")
    return [
        link.digest.hex() for link in chain.hash_messages([AiMessage(RECORDING.client_text), CALL])
    ]


def test_what_is_kept_has_no_secrets():
    text, call = digests(keep_content=True)
    assert finalized() == RunEnd(
        run_id=RUN,
        ended_at=START,
        ending=replace(ENDING, error=f"No answer from {UNSIGNED}."),
        finish_reason="f" * 50,
        text=f"See {UNSIGNED}",
        text_digest=text,
        call={"function": "get_widget_data", "input_arguments": {"widget": "w"}},
        call_digest=call,
        events=(RunEvent(type="status", payload={"message": UNSIGNED}, text_offset=3, at_ms=40),),
        usages=RECORDING.usages,
        keep_content=True,
    )


@pytest.mark.parametrize(
    ("number", "fits"), [(-1, 0), (0, 0), (2**31 - 1, 2**31 - 1), (2**31, 2**31 - 1)]
)
def test_tokens_are_made_fit_for_their_columns(number, fits):
    end = finalized(usages=(used(number, number, number, number),))
    assert set(end.tokens.values()) == {fits}


def test_what_no_database_takes_is_replaced_with_a_note():
    event = replace(RECORDING.events[0], payload={"message": "x\ud800", "n": [float("nan")]})
    end = finalized(text="a\0b", events=(event,))
    assert end.text == "a\ufffdb"
    assert end.events[0].payload == {"message": "x\ufffd", "n": [None]}
    assert end.ending.notes == ("A note.", CLEANED)
    assert finalized(finish_reason="st\0p").ending.notes == ("A note.", CLEANED)
