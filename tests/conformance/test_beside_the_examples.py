"""Two templates beside the examples of OpenBB that do the same: event by event, fact by fact.

A golden file holds a request, what the example sends in each leg by its source, in the events that
the package of OpenBB makes of it, and what ours sends. Our events are the same and more: each of the
example's has one of ours that says as much, in its order.
"""

import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from tests.conformance.strangers import Stranger, content
from tests.workspace.client import Event
from tests.workspace.model_server import says

pytestmark = pytest.mark.django_db(transaction=True)

EXAMPLES = Path(__file__).parent.parent / "golden" / "examples"
SLUGS = ("dashboard-explorer", "portfolio-commentary")
AN_ID = "(an id of its own)"
SIGNED = "(signed)"  # stands for what the client carries, which differs from run to run


def golden(slug: str) -> Any:
    return json.loads((EXAMPLES / f"{slug}.json").read_text())


def asked(slug: str, service_url: str, model: Any) -> tuple[Any, list[list[Event]]]:
    """Plays a golden file's question; its scripted model says what the file says."""
    example = golden(slug)
    stranger = Stranger(slug, says(*example["says"]), service=service_url, model=model)
    [question] = example["request"]["messages"]
    request = {key: one for key, one in example["request"].items() if key != "messages"}
    answers = {"get_widget_data": content(*example["data"])}
    return example, stranger.asks(question["content"], functions=answers, **request)


def settled(event: Event) -> list[Any]:
    """An event as a golden file has it: all of it but what differs from run to run."""
    name, data = event
    if name == "copilotFunctionCall":
        state = {**data["extra_state"], "copilot_memory": SIGNED}
        data = {**data, "extra_state": state}
    if name == "copilotCitationCollection":
        assert len({UUID(one["id"]) for one in data["citations"]}) == len(data["citations"])
        data = {**data, "citations": [{**one, "id": AN_ID} for one in data["citations"]]}
    return [name, data]


@pytest.mark.parametrize("slug", SLUGS)
def test_our_legs_are_those_of_the_golden_file(slug, service_url, model):
    example, legs = asked(slug, service_url, model)
    assert [[settled(event) for event in _joined(leg)] for leg in legs] == example["ours"]


@pytest.mark.parametrize("slug", SLUGS)
def test_each_event_of_the_example_has_one_of_ours_that_says_as_much(slug):
    example = golden(slug)
    assert len(example["source"]) == len(example["ours"])
    for theirs, ours in zip(example["source"], example["ours"], strict=True):
        rest = iter(_joined(ours))
        for event in _joined(theirs):
            assert any(_says_as_much(one, event, request=example["request"]) for one in rest), event


def _joined(leg: list[Any]) -> list[Any]:
    """The events with the words between two others in one piece."""
    joined: list[Any] = []
    for name, data in leg:
        if name == "copilotMessageChunk" and joined and joined[-1][0] == name:
            joined[-1] = [name, {"delta": joined[-1][1]["delta"] + data["delta"]}]
        else:
            joined.append([name, data])
    return joined


def _says_as_much(ours: Any, theirs: Any, *, request: Any) -> bool:
    """Whether our event has what theirs has; words are the model's, and the builder's in a step."""
    if ours[0] != theirs[0]:
        return False
    match ours[0]:
        case "copilotFunctionCall":
            asked_for = ("function", "input_arguments")
            return all(ours[1][key] == theirs[1][key] for key in asked_for)
        case "copilotStatusUpdate":
            groups = request["widgets"].values()
            names = [widget["name"] for group in groups for widget in group]
            told = [name for name in names if name in theirs[1]["message"]]
            alike = all(ours[1][key] == theirs[1][key] for key in ("eventType", "group"))
            return alike and all(name in ours[1]["message"] for name in told)
        case _:
            return bool(ours[1]["delta"])
