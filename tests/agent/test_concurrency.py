"""Heavy work of a request runs in a thread."""

import threading

import pytest

from copilot_admin.agent import answer, one_leg
from copilot_admin.agent.client_tools import ClientTools
from copilot_admin.agent.concurrency import HEAVY_BYTES
from tests.agent.answer_requests import make_request, outputs_of
from tests.agent.scripted import ScriptedProvider, text


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
    ):
        watched(module, name)
    return found


@pytest.mark.parametrize(("size", "in_loop"), [(HEAVY_BYTES, True), (HEAVY_BYTES + 1, False)])
def test_work_for_a_large_request_runs_in_a_thread(places, size, in_loop):
    provider = ScriptedProvider([text("Hello.")])
    outputs_of(make_request(provider, size=size))
    assert places == {
        "plan_data": in_loop,
        "Leg": in_loop,
        "call_for": in_loop,
        "collected": in_loop,
    }
