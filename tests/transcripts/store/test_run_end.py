"""The end of a run as it is stored has nothing that may not be kept."""

from dataclasses import replace
from typing import Any
from uuid import UUID

from copilot_admin.agent.values.model_call import Usage, UsageSource
from copilot_admin.models import Outcome
from copilot_admin.transcripts.matching.messages import PUBLIC_KEY, HashChain
from copilot_admin.transcripts.store.recorder import (
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
