"""Citations that come with data, as far as every client can show them."""

import re
from typing import Any
from uuid import UUID

from openbb_ai.models import Citation as TheirCitation
import pytest

from protocol.citations import artifact_names, read_citation, strip_markers
from protocol.events import Citation, CitationCollection
from protocol.models import Generation
from protocol.serializers import serialize

OURS = UUID(int=7)
THEIRS = "6a097e6b-1d8c-4647-9863-57b23b1e8ad4"
BOX = {"text": "nine percent", "page": 2, "x0": 1, "top": 2.5, "x1": 30, "bottom": 9}
WEB = {"type": "web", "name": "Minutes", "metadata": {"url": "https://bank.example"}}


def read(**fields: Any) -> Any:
    return read_citation({"source_info": WEB, **fields}, id=OURS)


def test_a_citation_of_the_client_is_given_back_as_it_came():
    raw = {
        "id": THEIRS,
        "source_info": {**WEB, "uuid": THEIRS, "origin": "Bank", "widget_id": "w", "citable": True},
        "details": [{"Page": 2}, {"Title": "Minutes"}],
        "quote_bounding_boxes": [[BOX], [BOX, BOX]],
    }
    assert read_citation(raw, id=OURS) == Citation(
        id=THEIRS,
        source_info=raw["source_info"],
        details=({"Page": 2}, {"Title": "Minutes"}),
        quote_bounding_boxes=((BOX,), (BOX, BOX)),
    )
    assert TheirCitation.model_validate(raw)


@pytest.mark.parametrize("info", [None, "web", {}, {"type": "book"}, {**WEB, "citable": False}])
def test_one_without_a_source_that_may_be_cited_is_none(info: Any):
    assert read(source_info=info) is None


def test_what_no_client_would_take_is_left_out():
    info = {"type": "web", "uuid": "w-1", "origin": None, "name": 5, "metadata": [], "citable": "x"}
    clean = {"type": "web", "metadata": {}, "citable": True}
    assert read(source_info=info, details=[{"Page": 2}, "page 3"], id="c-1") == Citation(
        id=str(OURS), source_info=clean, details=({"Page": 2},)
    )


@pytest.mark.parametrize("wrong", [{"page": 2.5}, {"page": True}, {"x0": False}, {"top": "2"}])
def test_boxes_without_a_place_are_left_out(wrong: Any):
    citation = read(quote_bounding_boxes=[[BOX, {**BOX, **wrong}, 5], [{**BOX, **wrong}], [], 5])
    assert citation.quote_bounding_boxes == ((BOX,),)


UNSAFE = (
    "javascript:alert(1)", "JaVaScRiPt:alert(1)", " \x01java\tscript:alert(1)", "j\na\nvascript:x",
    "vbscript:msgbox(1)", "data:text/html,<script>x</script>", "data:;base64,PHA+", "[x](javascript:x)",
)  # fmt: skip
SAFE = (
    "https://bank.example/a:b?c=javascript", "mailto:desk@bank.example", "AAPL:US",
    "Market data: rates", "12:30", "reports/1.pdf", "",
)  # fmt: skip


def say_citation(generation: Generation, text: str, key: str = "Link") -> str:
    info = {"type": "web", "name": text, "metadata": {"pages": [{key: text}]}}
    citation = Citation(id=str(OURS), source_info=info, details=({"Name": text, key: [text]},))
    return "".join(str(data) for _, data in serialize(CitationCollection((citation,)), generation))


@pytest.mark.parametrize("generation", list(Generation))
@pytest.mark.parametrize("text", UNSAFE)
def test_no_client_gets_a_url_that_runs_code(generation: Generation, text: str):
    said = "".join(say_citation(generation, text).split("\\t")).replace("\\n", "").lower()
    assert not re.search(r"(java|vb)script:|data:", said)


@pytest.mark.parametrize("generation", list(Generation))
@pytest.mark.parametrize("text", SAFE)
def test_other_texts_of_a_citation_stay_as_they_are(generation: Generation, text: str):
    assert repr(text)[1:-1] in say_citation(generation, text, key="Symbol")


@pytest.mark.parametrize("key", ["url", "Link", "source_url", "href"])
def test_a_url_has_a_scheme_that_clients_may_open(key: str):
    said = say_citation(Generation.THREE, "file:///etc/passwd", key)
    assert said.count("file:///") == 2  # the names, which are no links


def test_the_arguments_of_a_widget_stay_those_of_the_client():
    info = {"type": "widget", "metadata": {"input_args": {"url": "javascript:x"}}}
    cited = CitationCollection((Citation(id=str(OURS), source_info=info),))
    [(_, data)] = serialize(cited, Generation.THREE)
    assert data["citations"][0]["source_info"] == info


@pytest.mark.parametrize(
    ("text", "stripped", "names"),
    [
        ("a < b and c > d", "a < b and c > d", ()),
        ("see <|start_artifact_id|>Prices | 2<|end_artifact_id|>.", "see .", ("Prices | 2",)),
        ("a<|start_citation_id|>8b2e<|end_citation_id|> b", "a b", ()),
        ("<|start_artifact_id|>a<|end_artifact_id|><|start_citation_id|>b<|end_citation_id|>",
         "", ("a",)),
        ("never <|start_artifact_id|>ended", "never ended", ()),
        ("only the end<|end_citation_id|>", "only the end", ()),
        # what began within a name is no marker
        ("<|start_artifact_id|>a<|start_citation_id|>b<|end_artifact_id|>c<|end_citation_id|>d",
         "cd", ("a<|start_citation_id|>b",)),
        ('see <artifact className="p"/> and <citation className="8b2e" />', "see  and ", ("p",)),
        ('<artifact className=""/><artifact name="x"/>', "", ()),
        ("<artifacts> stay, <citation never closed", "<artifacts> stay, <citation never closed", ()),
        (f"<|start_artifact_id|>{'x' * 300}<|end_artifact_id|>", "x" * 300, ()),
    ],
)  # fmt: skip
def test_markers_are_taken_out_and_artifacts_known(text: str, stripped: str, names: tuple):
    assert (strip_markers(text), artifact_names(text)) == (stripped, names)
