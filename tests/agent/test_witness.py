"""What the engine tells whoever watches: each call of a model, each tool, and nothing too early."""

from dataclasses import replace
import sys
from types import FrameType

import pytest

from copilot_admin.agent.values.model_call import Finish, TextDelta, ToolCall, Usage
from copilot_admin.agent.values.spec import ComponentUse
from copilot_admin.agent.values.witness import Fact, ModelAsked, ToolRan, Witness
from copilot_admin.errors import ProviderBroke, ProviderUnavailable
from protocol.components import create_output
from tests.agent.components.sample_components import sample_components
from tests.agent.engine_inputs import make_engine_input, make_spec, outputs_of
from tests.agent.scripted import ScriptedProvider, Step, broken, call, text

__all__ = ["sample_components"]

USAGE = Usage(input_tokens=12, output_tokens=3)
TABLE = {"name": "Prices", "description": "By day.", "rows": [{"day": "Mon"}]}


def told(*script: Step, wants_content: bool = False, **spec: object) -> list[Fact]:
    """What the engine tells while it answers with this script."""
    facts: list[Fact] = []
    with ScriptedProvider(script) as provider:
        ask = make_engine_input(
            provider,
            spec=make_spec(**spec),
            witness=Witness(facts.append, wants_content=wants_content),
        )
        outputs_of(ask)
    return facts


def without_times(fact: Fact) -> Fact:
    """The fact as a test can compare it; the times have to be in order."""
    if isinstance(fact, ToolRan):
        assert fact.began <= fact.ended
        return replace(fact, began=0, ended=0)
    assert fact.began <= (fact.first or fact.began) <= fact.ended
    return replace(fact, began=0, ended=0, first=None if fact.first is None else 0)


def test_a_call_of_a_model_is_told_when_it_has_ended():
    (fact,) = told(Step((TextDelta("Up "), TextDelta("3 %."), USAGE, Finish("stop"))))
    assert isinstance(fact, ModelAsked)
    assert without_times(fact) == ModelAsked(
        call=fact.call, began=0, first=0, ended=0, usage=USAGE, finish="stop"
    )
    assert fact.call.model == "small"
    assert fact.call.messages[-1].text == "What moved?"


def test_words_are_kept_only_for_who_wants_them():
    assert [fact.text for fact in told(text("Up ", "3 %."), wants_content=True)] == ["Up 3 %."]
    assert [fact.text for fact in told(text("Up ", "3 %."))] == [""]


def test_a_tool_stands_between_the_calls_that_wanted_it_and_read_it():
    first, tool, second = told(call("table", **TABLE), text("Done."), tools=("table",))
    assert isinstance(first, ModelAsked)
    assert isinstance(tool, ToolRan)
    assert isinstance(second, ModelAsked)
    assert first.tool_calls == (tool.call,)
    assert (tool.call.name, tool.failed) == ("table", False)
    assert second.call.messages[-1].text == tool.result
    assert first.ended <= tool.began <= tool.ended <= second.began


@pytest.mark.parametrize("wrong", [{}, {"name": "Prices", "rows": 3}])
def test_a_tool_that_is_called_wrongly_has_failed(wrong):
    _, tool, _ = told(call("table", **wrong), text("Sorry."), tools=("table",))
    assert without_times(tool) == ToolRan(
        call=tool.call, began=0, ended=0, result=tool.result, failed=True
    )


@pytest.mark.usefixtures("sample_components")
def test_a_component_that_breaks_down_has_failed():
    use = ComponentUse(name="player", version="v1", config={"outputs": (ValueError("No."),)})
    _, tool, _ = told(call("player"), text("Sorry."), components=(use,))
    assert tool.failed


@pytest.mark.usefixtures("sample_components")
def test_a_component_that_gives_something_has_not():
    output = create_output("text", "hi")
    use = ComponentUse(name="player", version="v1", config={"outputs": (output,)})
    _, tool, _ = told(call("player"), text("Done."), components=(use,))
    assert without_times(tool) == ToolRan(
        call=ToolCall(id="call-1", name="player", arguments="{}"), began=0, ended=0, result="hi"
    )


def test_tries_in_vain_are_told_with_the_one_that_worked():
    (fact,) = told(broken(ProviderUnavailable("Away.")), text("Here."))
    assert isinstance(fact, ModelAsked)
    assert (fact.failures, fact.failed, fact.finish) == (("ProviderUnavailable",), False, "stop")


def test_an_answer_that_breaks_off_is_told_with_its_error():
    facts: list[Fact] = []
    with ScriptedProvider([broken(ProviderBroke("Broken."), "Half")]) as provider:
        ask = make_engine_input(provider, witness=Witness(facts.append, wants_content=True))
        with pytest.raises(ProviderBroke):
            outputs_of(ask)
    (fact,) = facts
    assert without_times(fact) == ModelAsked(
        call=fact.call,
        began=0,
        first=0,
        ended=0,
        text="Half",
        failures=("ProviderBroke",),
        failed=True,
    )


def test_a_piece_of_an_answer_is_looked_at_once():
    """All else of what it costs to tell is paid once a call of a model, however long its answer is."""

    def calls(pieces: int) -> int:
        found = [0]

        def look(frame: FrameType, event: str, _argument: object) -> None:
            found[0] += event == "call" and frame.f_code.co_filename.endswith("values/witness.py")

        before = sys.getprofile()
        sys.setprofile(look)
        try:
            told(Step((*[TextDelta("word ")] * pieces, USAGE, Finish("stop"))))
        finally:
            sys.setprofile(before)
        return found[0]

    assert calls(101) - calls(1) == 100
