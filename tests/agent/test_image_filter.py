"""What leaves for the client holds no image that it would load from elsewhere."""

from typing import Any

import pytest

from copilot_admin.agent.image_filter import ImageFilter
from protocol.events import (
    ArtifactType,
    Citation,
    CitationCollection,
    MessageArtifact,
    MessageChunk,
    PromptSuggestions,
    StatusUpdate,
)
from tests.agent.answer_requests import make_request, make_spec, outputs_of
from tests.agent.scripted import ScriptedProvider, text

IMAGE, LINK = "![a](http://e/x)", "[a](http://e/x)"


@pytest.mark.parametrize(
    ("pieces", "sources", "words"),
    [
        (["See !", "[a](http", "://e/x) and `", "![b](c)` ", "so!"], (),
         "See [a](http://e/x) and `![b](c)` so!"),
        ([*"![a](https://c.example.com/x)"], ("https://c.example.com",),
         "![a](https://c.example.com/x)"),
    ],
)  # fmt: skip
def test_an_answer_is_sent_without_them_in_whatever_pieces_it_comes(pieces, sources, words):
    spec = make_spec(html_sources=sources)
    found = outputs_of(make_request(ScriptedProvider([text(*pieces)]), spec=spec))
    assert "".join(one.delta for one in found if isinstance(one, MessageChunk)) == words


def artifact(kind: ArtifactType, text: str, content: Any, **more: Any) -> MessageArtifact:
    about: Any = {"uuid": "1", "artifact_name": "A", "description": text}
    return MessageArtifact(type=kind, content=content, **about, **more)


def chart(text: str) -> MessageArtifact:
    rows = [{"day": text, text: 1.5, "more": [{"x": text}, None]}]
    params = {"chartType": "bar", "xKey": "day", "yKey": [text]}
    return artifact(ArtifactType.CHART, text, rows, chart_params=params)


def cited(text: str) -> CitationCollection:
    info = {"name": "N", "description": text, "metadata": {"n": 1}}
    first = Citation(id="1", source_info=info, details=({"Content": text, "n": 1},))
    return CitationCollection((first, Citation(id="2", source_info={})))


@pytest.mark.parametrize(
    "make",
    [
        lambda text: StatusUpdate(message=text, details=({"b": text, "n": 1}, text)),
        lambda text: artifact(ArtifactType.TEXT, text, text),
        lambda text: artifact(ArtifactType.HTML, text, IMAGE),  # HTML is cleaned where it is made
        chart,
        cited,
        lambda text: PromptSuggestions((text, "Why?")),
    ],
)
def test_other_outputs_are_sent_without_them(make):
    outputs = []
    ImageFilter(outputs.append, sources=()).add(make(IMAGE))
    assert outputs == [make(LINK)]


def test_held_words_are_overtaken_by_steps_but_not_by_what_ends_an_answer():
    step, citations = StatusUpdate(message="x"), CitationCollection(())
    outputs = []
    safe = ImageFilter(outputs.append, sources=())
    for output in (MessageChunk("So!"), step, citations):
        safe.add(output)
    safe.flush()
    assert outputs == [MessageChunk("So"), step, MessageChunk("!"), citations]
