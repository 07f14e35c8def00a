"""What leaves for the client holds no image that it would load from elsewhere."""

from copilot_admin.agent.image_filter import ImageFilter
from copilot_admin.agent.values.model_call import Finish
from protocol.events import (
    ArtifactType,
    Citation,
    CitationCollection,
    MessageArtifact,
    MessageChunk,
    StatusUpdate,
)
from tests.agent.answer_requests import make_request, make_spec, outputs_of
from tests.agent.scripted import ScriptedProvider, text

IMAGE, LINK = "![a](http://e/x)", "[a](http://e/x)"


def artifact(content: str, *, kind: ArtifactType = ArtifactType.TEXT) -> MessageArtifact:
    return MessageArtifact(
        type=kind, uuid="1", artifact_name="A", description=content, content=content
    )


def test_an_answer_is_sent_without_them_in_whatever_pieces_it_comes():
    provider = ScriptedProvider([text("See !", "[a](http", "://e/x) and `", "![b](c)` ", "so!")])
    found = outputs_of(make_request(provider))
    words = "".join(one.delta for one in found if isinstance(one, MessageChunk))
    assert words == "See [a](http://e/x) and `![b](c)` so!"
    assert found[-1] == Finish("stop")


def test_those_from_where_the_builder_allows_them_stay():
    image = "![a](https://charts.example.com/x.png)"
    spec = make_spec(html_sources=("https://charts.example.com",))
    found = outputs_of(make_request(ScriptedProvider([text(*image)]), spec=spec))
    assert "".join(one.delta for one in found if isinstance(one, MessageChunk)) == image


def test_steps_and_text_artifacts_are_sent_without_them():
    step = StatusUpdate(message=IMAGE, details=({"b": IMAGE, "n": 1}, IMAGE))
    clean = StatusUpdate(message=LINK, details=({"b": LINK, "n": 1}, LINK))
    safe = ImageFilter(())
    assert list(safe.take(step)) == [clean]
    assert list(safe.take(artifact(IMAGE))) == [artifact(LINK)]
    (html,) = safe.take(artifact(IMAGE, kind=ArtifactType.HTML))
    assert isinstance(html, MessageArtifact)
    assert html.content == IMAGE  # HTML is cleaned where it is made


def test_rows_are_sent_without_them_and_a_chart_names_the_same_columns():
    def chart(image):
        return MessageArtifact(
            type=ArtifactType.CHART,
            uuid="1",
            artifact_name="A",
            description="D",
            content=[{"day": image, image: 1.5, "more": [{"x": image}, None]}],
            chart_params={"chartType": "bar", "xKey": "day", "yKey": [image]},
        )

    assert list(ImageFilter(()).take(chart(IMAGE))) == [chart(LINK)]


def test_citations_are_sent_without_them():
    cited = CitationCollection(
        (
            Citation(
                id="1",
                source_info={"name": "N", "description": IMAGE, "metadata": {"n": 1}},
                details=({"Content": IMAGE, "n": 1},),
            ),
            Citation(id="2", source_info={}),
        )
    )
    [sent] = ImageFilter(()).take(cited)
    assert sent == CitationCollection(
        (
            Citation(
                id="1",
                source_info={"name": "N", "description": LINK, "metadata": {"n": 1}},
                details=({"Content": LINK, "n": 1},),
            ),
            Citation(id="2", source_info={}),
        )
    )


def test_held_words_are_overtaken_by_steps_but_not_by_what_ends_an_answer():
    safe, step, cited = ImageFilter(()), StatusUpdate(message="x"), CitationCollection(())
    assert list(safe.take(MessageChunk("So!"))) == [MessageChunk("So")]
    assert list(safe.take(step)) == [step]
    assert list(safe.take(cited)) == [MessageChunk("!"), cited]
    assert list(safe.rest()) == []
