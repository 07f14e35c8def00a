"""The source's own `SimilarQuestion` is accepted: by the contract, by the server, with a model."""

import json
from typing import Any

import pytest

from copilot_admin.agent.components.registry import Registry
from copilot_admin.agent.values.model_call import Alive, Finish, TextDelta, Usage
from copilot_admin.component_calls import access
from copilot_admin.copilots.checklist import content_checks
from protocol.components import static_findings
from tests.agent.components.source_example import SimilarQuestion, SimilarQuestionWithRun
from tests.agent.scripted import ScriptedProvider, Step
from tests.api.test_query import script
from tests.component_calls.component_http import ask
from tests.factories import make_key, make_published

QUESTION = "我想吃冰淇淋,哪里的冰淇淋比较好吃?"
ANSWER = Step(
    (
        Alive(),
        TextDelta("附近有"),
        TextDelta("冰淇淋店吗?"),
        Usage(input_tokens=7, output_tokens=5),
        Finish("stop"),
    )
)
COUNTED = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> ScriptedProvider:
    """A copilot that has both components switched on, and whose model answers as a script says."""
    registry = Registry((SimilarQuestion, SimilarQuestionWithRun))
    assert registry.faults == []
    for module in (access, content_checks):
        monkeypatch.setattr(module, "registry", lambda: registry)
    return script(monkeypatch, ANSWER)


def asked(component: str, action: str = "tool_eval", **more: Any) -> Any:
    names = ("similar_question", "similar_question_with_run")
    copilot = make_published(
        slug="desk", components=[{"name": name, "version": "v1"} for name in names]
    )
    _, key = make_key(copilots=(copilot,))
    body = {"parameters": {"query": QUESTION, **more.pop("parameters", {})}, **more}
    reply = ask(f"/{component}/version/v1?action={action}", body, key=key)
    assert reply.status == 200, reply.json
    return reply


def test_the_contract_has_nothing_against_it():
    assert static_findings(SimilarQuestion) == ()
    assert static_findings(SimilarQuestionWithRun) == ()


@pytest.mark.django_db(transaction=True)
class TestOverHttp:
    def test_tool_eval_gives_what_the_model_wrote_with_its_tokens(self, provider):
        reply = asked("similar_question")
        (element,) = reply.json["content"]
        assert (element["type"], element["name"]) == ("text", "text")
        assert element["text"] == {"info": "附近有冰淇淋店吗?"}
        assert COUNTED.items() <= element["usage"].items()
        (call,) = provider.calls
        assert QUESTION in call.messages[0].text
        assert SimilarQuestion.manifests[0]["description"] in call.messages[0].text
        assert call.parameters["temperature"] == 0.0
        assert "top_p" not in call.parameters

    def test_model_configs_reach_the_model(self, provider):
        asked("similar_question", parameters={"model_configs": {"temperature": 0.4, "top_p": 0.8}})
        (call,) = provider.calls
        assert (call.parameters["temperature"], call.parameters["top_p"]) == (0.4, 0.8)

    @pytest.mark.parametrize("component", ["similar_question", "similar_question_with_run"])
    def test_run_gives_one_message_or_its_pieces(self, provider, component):
        reply = asked(component, "run", parameters={"temperature": 0.7})
        (element,) = reply.json["content"]
        assert json.loads(element["text"]["data"]) == "附近有冰淇淋店吗?"
        assert COUNTED.items() <= element["usage"].items()
        assert provider.calls[0].parameters["temperature"] == 0.7

    def test_run_may_stream(self, provider):
        reply = asked("similar_question_with_run", "run", stream=True)
        elements = [one for event in reply.events for one in event["content"]]
        assert [json.loads(one["text"]["data"]) for one in elements] == ["附近有冰淇淋店吗?"]
        assert COUNTED.items() <= elements[-1]["usage"].items()
