"""What takes long is done beside the event loop, and what does not in it."""

import threading

import pytest

from copilot_admin.agent import answer, one_leg
from copilot_admin.agent.beside import HEAVY_ARGUMENTS, HEAVY_BYTES
from copilot_admin.agent.client_tools import ClientTools
from copilot_admin.agent.toolkits.markdown_images import MarkdownImages
from copilot_admin.agent.tools import registry
from copilot_admin.agent.values.model_call import Finish, ReasoningDelta
from copilot_admin.agent.without_images import WithoutImages
from protocol.events import (
    ArtifactType,
    Citation,
    CitationCollection,
    MessageArtifact,
    MessageChunk,
    StatusUpdate,
)
from tests.agent.engine_inputs import make_engine_input, make_spec, outputs_of
from tests.agent.scripted import ScriptedProvider, Step, call, text


@pytest.fixture
def places(monkeypatch: pytest.MonkeyPatch) -> dict[str, bool]:
    """Whether each kind of work was done in the thread of the loop, when it was done last."""
    found: dict[str, bool] = {}

    def watched(module: object, name: str) -> None:
        work = getattr(module, name)

        def done(*given: object, **named: object) -> object:
            found[name] = threading.current_thread() is threading.main_thread()
            return work(*given, **named)

        monkeypatch.setattr(module, name, done)

    for module, name in (
        (answer, "plan_data"),
        (answer, "Leg"),
        (one_leg, "collected"),
        (ClientTools, "call_for"),
        (registry, "read_arguments"),
    ):
        watched(module, name)
    return found


@pytest.mark.parametrize(("size", "in_loop"), [(HEAVY_BYTES, True), (HEAVY_BYTES + 1, False)])
def test_what_is_made_of_a_large_request_is_made_beside_the_loop(places, size, in_loop):
    provider = ScriptedProvider([text("Hello.")])
    outputs_of(make_engine_input(provider, size=size))
    assert places == {
        "plan_data": in_loop,
        "Leg": in_loop,
        "call_for": in_loop,
        "collected": in_loop,
    }


@pytest.mark.parametrize("more", [0, 1])
def test_long_calls_of_a_model_are_read_beside_the_loop(places, more):
    wanted = call("html", name="Card", description="", html="<p>4.5</p>")
    (tool_call, *_) = wanted.actions
    length = HEAVY_ARGUMENTS + more - len(getattr(tool_call, "arguments", ""))
    wanted = call("html", name="Card", description="", html="<p>4.5</p>" + " " * length)
    provider = ScriptedProvider([wanted, text("Done.")])
    outputs_of(make_engine_input(provider, spec=make_spec(tools=("html",))))
    assert places["read_arguments"] is (not more)


def test_an_event_full_of_images_is_cleaned_beside_the_loop(monkeypatch):
    places = []
    cleaned = MarkdownImages.feed

    def feed(images, piece):
        if "![" in piece:
            places.append(threading.current_thread() is threading.main_thread())
        return cleaned(images, piece)

    monkeypatch.setattr(MarkdownImages, "feed", feed)
    spec = make_spec(reasoning_steps=True, show_steps=True)
    for thought in ("![a", "![a" * 5000):
        step = Step((ReasoningDelta(thought), *text("Hello.").actions, Finish("stop")))
        outputs_of(make_engine_input(ScriptedProvider([step]), spec=spec))
    outputs_of(make_engine_input(ScriptedProvider([text("![a", "![a" * 5000)])))
    assert places == [True, False, True, False]


@pytest.mark.parametrize("costly", ["![a" * 5000, "<a" * 5000, "<a" + "\n" * 20_000])
def test_what_is_full_of_images_or_tags_is_known_by_any_of_its_texts(costly):
    def are_costly(words):
        artifact = MessageArtifact(
            type=ArtifactType.TEXT, uuid="1", artifact_name="A", description="", content=words
        )
        events = (
            MessageChunk(words),
            artifact,
            StatusUpdate(message="", details=({"a": words}, "b")),
            StatusUpdate(message="", artifacts=(artifact,)),
            CitationCollection((Citation(id="1", source_info={}, details=({"a": words},)),)),
        )
        return {WithoutImages(()).is_costly(event) for event in events}

    assert are_costly(costly) == {True}
    assert are_costly("![a](b) <c> " + "word\n" * 900) == {False}


def test_a_mark_behind_very_many_lines_is_costly_and_the_next_one_is_not():
    images = WithoutImages(())
    lines, mark = MessageChunk("\n" * 20_000), MessageChunk("<a ")
    assert not images.is_costly(lines)
    list(images.take(lines))
    assert images.is_costly(mark)
    list(images.take(mark))
    assert not images.is_costly(mark)
