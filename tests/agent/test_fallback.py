"""Further models answer when one fails before its first word."""

import pytest

from copilot_admin.agent.values.answer_request import FallbackUsed
from copilot_admin.agent.values.model_call import Finish, ModelTarget
from copilot_admin.agent.values.spec import ProviderSpec
from copilot_admin.errors import ProviderBroke, ProviderRefused, ProviderTimeout
from protocol.events import MessageArtifact, MessageChunk
from tests.agent.answer_requests import make_request, make_spec, outputs_of
from tests.agent.scripted import ScriptedProvider, Step, broken, call, text

BACKUP = ProviderSpec(name="Backup", kind="scripted")
TABLE = {"name": "Closes", "description": "By day.", "rows": [{"day": "Mon", "close": 1.5}]}


def run(own: list[Step], *fallbacks: tuple[str, list[Step]], **changes):
    providers = [ScriptedProvider(script) for _, script in fallbacks]
    targets = tuple(
        ModelTarget(model=model, spec=BACKUP, provider=provider)
        for (model, _), provider in zip(fallbacks, providers, strict=True)
    )
    first = ScriptedProvider(own)
    outputs = outputs_of(make_request(first, fallbacks=targets, **changes))
    return outputs, [one.calls for one in (first, *providers)]


def test_the_first_fallback_that_works_answers():
    refusal = broken(ProviderRefused("No.", detail="model overloaded"))
    outputs, calls = run(
        [refusal], ("small", [refusal]), ("large", [text("Rates fell.")]), ("spare", [])
    )
    used = [one for one in outputs if isinstance(one, FallbackUsed)]
    assert [(one.failed_model, one.model, one.error) for one in used] == [
        (make_spec().model, "small", "model overloaded"),
        ("small", "large", "model overloaded"),
    ]
    assert outputs[2:] == [MessageChunk("Rates fell."), Finish("stop")]
    assert [[one.model for one in made] for made in calls[1:]] == [["small"], ["large"], []]


def test_the_model_that_answered_is_asked_again_after_a_tool_call():
    outputs, calls = run(
        [broken(ProviderTimeout("Silent."))],
        ("small", [call("table", **TABLE), text("Done.")]),
        spec=make_spec(tools=("table",)),
    )
    assert sum(isinstance(one, FallbackUsed) for one in outputs) == 1
    assert any(isinstance(one, MessageArtifact) for one in outputs)
    assert [len(made) for made in calls] == [1, 2]


@pytest.mark.parametrize(
    ("own", "fallbacks"),
    [
        ([broken(ProviderBroke("Broke."), "Rates")], [("small", [])]),  # after its first word
        ([broken(ProviderBroke("Broke."))], [("small", [broken(ProviderBroke("Broke."))])]),
    ],
)
def test_an_answer_fails_when_words_were_sent_or_no_model_is_left(own, fallbacks):
    with pytest.raises(ProviderBroke):
        run(own, *fallbacks)
