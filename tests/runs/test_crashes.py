"""Whatever breaks in a run, its client gets a sentence and an end, and its row says crashed."""

from collections.abc import Callable
from typing import Any

from django.test import AsyncClient
import pytest

from copilot_admin.models import Event, Node, Outcome, Run, Turn
from copilot_admin.runs.run import RUNNING
from copilot_admin.runs.run_output import SendBuffer
from copilot_admin.runs.tasks import CRASHED
from copilot_admin.transcripts.store import end_rows, recorder
from copilot_admin.transcripts.store.recorder import Recorder
from protocol.events import MessageChunk
from tests.agent.scripted import ScriptedProvider, text
from tests.factories import make_published
from tests.streams import read

pytestmark = pytest.mark.django_db(transaction=True)

QUERY = "/v1/copilots/news/query"
HELLO = {"messages": [{"role": "human", "content": "Hello"}], "timezone": "UTC"}


@pytest.fixture(autouse=True)
def copilot(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that answers in two words."""
    provider = ScriptedProvider([text("Half ", "said.")])
    monkeypatch.setattr("copilot_admin.copilots.live.make_provider", lambda spec: provider)
    make_published(slug="news")


def breaking(function: Callable[..., Any], *, when: Callable[..., bool]) -> Callable[..., Any]:
    """The function, which breaks at certain calls."""

    def broken(*args: Any, **options: Any) -> Any:
        if when(*args):
            raise KeyError("a bug")
        return function(*args, **options)

    return broken


def always(*args: Any) -> bool:
    return True


def at_first(times: int) -> Callable[..., bool]:
    calls: list[Any] = []

    def is_early(*args: Any) -> bool:
        calls.append(args)
        return len(calls) <= times

    return is_early


def is_second_word(self: object, output: object) -> bool:
    return output == MessageChunk("said.") or output == "said."


def told(events: list[tuple[str, Any]]) -> str:
    """The text of an answer that ends as an answer does that failed."""
    (step, about), (words, _) = events[-2:]
    assert (step, about["eventType"]) == ("copilotStatusUpdate", "WARNING")
    assert words == "copilotMessageChunk"
    return "".join(data.get("delta", "") for _, data in events)


def assert_crashed() -> None:
    run = Run.objects.get()
    assert (run.outcome, run.error, run.error_code) == (Outcome.CRASHED, CRASHED, "crash")
    assert Turn.objects.get().state == "failed"
    assert not RUNNING


@pytest.mark.parametrize(
    ("place", "name"), [(Recorder, "add"), (SendBuffer, "write_text")], ids=["recorder", "writer"]
)
def test_a_word_that_cannot_be_taken_ends_the_answer_behind_the_words_before(
    place, name, monkeypatch
):
    monkeypatch.setattr(place, name, breaking(getattr(place, name), when=is_second_word))
    assert told(read(AsyncClient(), QUERY, HELLO)) == f"Half \n\n{CRASHED}"
    assert_crashed()
    assert Node.objects.get(role="ai").text.startswith("Half ")


@pytest.mark.database
@pytest.mark.parametrize(
    ("place", "name", "when"),
    [
        (Recorder, "add", always),
        (recorder, "finalize", at_first(1)),
        (end_rows, "finish", at_first(1)),
    ],
)
def test_a_run_that_cannot_be_kept_as_it_was_is_kept_by_its_end(
    place, name, when, monkeypatch, caplog
):
    monkeypatch.setattr(place, name, breaking(getattr(place, name), when=when))
    write_text = breaking(SendBuffer.write_text, when=is_second_word)
    monkeypatch.setattr(SendBuffer, "write_text", write_text)
    assert told(read(AsyncClient(), QUERY, HELLO)).endswith(CRASHED)
    assert_crashed()
    assert "kept without its content" in caplog.text
    assert Event.objects.count() == 0


def test_an_end_that_is_kept_and_cannot_be_said_is_said_in_words(monkeypatch):
    monkeypatch.setattr(SendBuffer, "release", breaking(SendBuffer.release, when=always))
    assert told(read(AsyncClient(), QUERY, HELLO)).endswith(CRASHED)
    assert Run.objects.get().outcome == Outcome.COMPLETED


def test_the_stream_ends_with_a_sentence_even_if_nothing_can_be_kept(monkeypatch, caplog):
    monkeypatch.setattr(recorder, "finalize", breaking(recorder.finalize, when=always))
    assert told(read(AsyncClient(), QUERY, HELLO)).endswith(CRASHED)
    assert not RUNNING
    assert "ended with an error" in caplog.text
