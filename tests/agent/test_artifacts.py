"""Names of artifacts: as they were given while they are free, else with a number."""

import pytest

from copilot_admin.agent.artifacts import ArtifactNames, find_artifact_names
from protocol.events import ArtifactType, FunctionCall, MessageArtifact, MessageChunk, StatusUpdate
from protocol.json import Json
from protocol.models import AiMessage, ContextItem, HumanMessage, ResultMessage
from tests.agent.answer_requests import make_query


def artifact(name: str) -> MessageArtifact:
    return MessageArtifact(
        type=ArtifactType.TEXT, uuid="u", artifact_name=name, description="", content="x"
    )


def test_a_free_name_stays_and_a_taken_one_gets_the_next_free_number():
    names = ArtifactNames(["Prices", "Prices 3", ""])
    given = [names.reserve(name) for name in ("News", "Prices", "Prices", "prices", "Prices 2")]
    assert given == ["News", "Prices 2", "Prices 4", "prices", "Prices 2 2"]


def test_a_name_holds_no_image_that_loads_from_elsewhere():
    names = ArtifactNames([])
    given = [names.reserve(name) for name in ("![a](http://e/x)", "[a](http://e/x)", "<img src=e>")]
    assert given == ["[a](http://e/x)", "[a](http://e/x) 2", "< img src=e>"]
    assert len(names.reserve("![a" * 100)) <= 200


def test_artifacts_of_a_step_have_names_of_their_own_too():
    names = ArtifactNames(["A"])
    step = StatusUpdate(message="Two tables", artifacts=(artifact("A"), artifact("A")))
    named = names.rename(step)
    assert named == StatusUpdate(message="Two tables", artifacts=(artifact("A 2"), artifact("A 3")))
    assert names.rename(artifact("A")) == artifact("A 4")
    chunk, plain = MessageChunk("A"), StatusUpdate(message="A")
    assert (names.rename(chunk), names.rename(plain)) == (chunk, plain)


def test_names_travel_with_a_call_only_where_there_are_any():
    call = FunctionCall(function="f", input_arguments={}, extra_state={"a": 1})
    names = ArtifactNames(["A"])
    assert names.carry(call) is call
    names.reserve("A")
    assert names.carry(call).extra_state == {"a": 1, "artifact_names": ["A 2"]}


@pytest.mark.parametrize("foreign", [None, "A", 5, {"A": 1}, [5, None, ["A"]]])
def test_names_that_a_request_shows_are_taken_and_whatever_else_it_says_is_not(foreign: Json):
    query = make_query(
        HumanMessage("q"),
        AiMessage("a", artifacts=("B", "C")),
        ResultMessage("f", extra_state={"artifact_names": foreign}),
        ResultMessage("f", extra_state={"artifact_names": ["D", 5]}),
        context=(ContextItem(name="A"), ContextItem()),
    )
    assert [*find_artifact_names(query)] == ["A", "", "B", "C", "D"]
