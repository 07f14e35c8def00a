"""Citations that come with data, as far as every client can show them."""

from typing import Any
from uuid import UUID

from openbb_ai.models import Citation as TheirCitation
import pytest

from protocol.citations import read_citation
from protocol.events import Citation

OURS = UUID(int=7)
THEIRS = "6a097e6b-1d8c-4647-9863-57b23b1e8ad4"
BOX = {"text": "nine percent", "page": 2, "x0": 1, "top": 2.5, "x1": 30, "bottom": 9}
WEB = {"type": "web", "name": "Minutes", "metadata": {"url": "https://bank.example"}}


def read(**fields: Any) -> Citation | None:
    return read_citation({"source_info": WEB, **fields}, id=OURS)


def source_of(**info: Any) -> Any:
    citation = read(source_info=info)
    return citation and citation.source_info


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


@pytest.mark.parametrize("id", [None, "", "c-1", 5])
def test_one_without_a_uuid_gets_one(id: Any):
    citation = read(id=id)
    assert citation is not None
    assert citation.id == str(OURS)


@pytest.mark.parametrize("kind", ["widget", "direct retrieval", "web", "artifact"])
def test_each_kind_of_source_that_clients_know_is_cited(kind: str):
    assert source_of(type=kind, name="Minutes")["type"] == kind


@pytest.mark.parametrize(
    "info", [None, "web", {}, {"type": "book"}, {"type": None}, {**WEB, "citable": False}]
)
def test_one_without_a_source_that_may_be_cited_is_none(info: Any):
    assert read(source_info=info) is None


def test_members_of_a_source_that_no_client_would_take_are_left_out():
    assert source_of(type="web", uuid="w-1", origin=None, name=5, metadata=[], citable="no") == {
        "type": "web",
        "metadata": {},
        "citable": True,
    }


@pytest.mark.parametrize(
    "wrong",
    [
        {"page": "2"},
        {"page": 2.5},
        {"page": True},
        {"page": None},
        {"x0": False},
        {"top": "2"},
        {"bottom": None},
    ],
)
def test_boxes_without_a_place_are_left_out(wrong: Any):
    citation = read(quote_bounding_boxes=[[BOX, {**BOX, **wrong}, 5], [{**BOX, **wrong}], [], 5])
    assert citation is not None
    assert citation.quote_bounding_boxes == ((BOX,),)


def test_details_are_objects():
    citation = read(details=[{"Page": 2}, "page 3", None])
    assert citation is not None
    assert citation.details == ({"Page": 2},)
