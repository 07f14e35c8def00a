"""Traces of model calls and tools."""

import pytest

from copilot_admin.agent.values.model_call import Finish, TextDelta, Usage
from copilot_admin.agent.values.tracing import ModelCallTrace, ToolTrace, Trace, Tracer
from copilot_admin.errors import ProviderBroke, ProviderUnavailable
from tests.agent.answer_requests import make_request, make_spec, outputs_of
from tests.agent.scripted import ScriptedProvider, Step, broken, call, text

USAGE = Usage(input_tokens=12, output_tokens=3)
TABLE = {"name": "Prices", "description": "By day.", "rows": [{"day": "Mon"}]}


def traces_of(*script: Step, wants_content: bool = False, **spec: object) -> list[Trace]:
    traces: list[Trace] = []
    tracer = Tracer(traces.append, wants_content=wants_content)
    with ScriptedProvider(script) as provider:
        outputs_of(make_request(provider, spec=make_spec(**spec), tracer=tracer))
    return traces


def test_a_model_call_is_traced_when_it_has_ended():
    (trace,) = traces_of(Step((TextDelta("Up "), TextDelta("3 %."), USAGE, Finish("stop"))))
    assert isinstance(trace, ModelCallTrace)
    assert trace.began <= (trace.first or 0) <= trace.ended
    assert (trace.usage, trace.finish, trace.failures) == (USAGE, "stop", [])
    assert trace.call.messages[-1].text == "What moved?"
    assert trace.texts == []  # only for a tracer that wants content


def test_a_tool_is_traced_between_the_model_calls_around_it():
    script = (call("table"), call("table", **TABLE), text("Done."))
    _, wrong, first, tool, second = traces_of(*script, tools=("table",))
    assert wrong.failed
    assert isinstance(tool, ToolTrace)
    assert first.tool_calls == [tool.call]
    assert (tool.call.name, tool.failed) == ("table", False)
    assert second.call.messages[-1].text == tool.result
    assert first.ended <= tool.began <= tool.ended <= second.began


def test_failed_attempts_are_traced_with_the_one_that_worked():
    (trace,) = traces_of(broken(ProviderUnavailable("Away.")), text("Here."))
    assert trace.failures == ["ProviderUnavailable"]
    assert (trace.failed, trace.finish) == (False, "stop")


def test_an_answer_that_breaks_off_is_traced_with_its_error():
    traces: list[Trace] = []
    with ScriptedProvider([broken(ProviderBroke("Broken."), "Half")]) as provider:
        request = make_request(provider, tracer=Tracer(traces.append, wants_content=True))
        with pytest.raises(ProviderBroke):
            outputs_of(request)
    (trace,) = traces
    assert (trace.texts, trace.failures, trace.failed) == (["Half"], ["ProviderBroke"], True)
