"""What takes long is done beside the event loop, and what does not in it."""

import threading

import pytest

from copilot_admin.agent import answer, one_leg
from copilot_admin.agent.beside import HEAVY_ARGUMENTS, HEAVY_BYTES
from copilot_admin.agent.client_tools import ClientTools
from copilot_admin.agent.tools import registry
from tests.agent.engine_inputs import make_engine_input, make_spec, outputs_of
from tests.agent.scripted import ScriptedProvider, call, text


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
