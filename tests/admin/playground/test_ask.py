"""A question to a draft that isn't saved: answered by the agent, stored apart, visible to its builder."""

import json
from typing import Any

from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
import pytest

from copilot_admin.admin.playground.views import urlpatterns
from copilot_admin.config.roles import Role
from copilot_admin.models import Conversation, DailyUsage, Logging, Run
from tests.admin.pages import merged
from tests.admin.playground.conftest import HELLO, ask, form_of, read_answer, script
from tests.agent.scripted import text
from tests.factories import make_case, make_copilot, make_published, make_user

pytestmark = pytest.mark.django_db(transaction=True)


def test_what_is_typed_and_not_saved_is_what_answers(monkeypatch, builder, ada):
    copilot = make_copilot(system_prompt="Saved prompt")
    provider = script(monkeypatch, text("Hi ", "there."))
    form = merged(form_of(builder, copilot), {"system_prompt": ["Typed prompt"]})
    status, events = ask(ada, copilot.pk, form)
    assert status == 200
    assert read_answer(events) == "Hi there."
    assert provider.calls[0].messages[0].text.startswith("Typed prompt")
    copilot.refresh_from_db()
    assert copilot.system_prompt == "Saved prompt"


def test_what_the_model_was_asked_is_told_word_for_word(monkeypatch, builder, ada):
    copilot = make_copilot()
    provider = script(monkeypatch, text("Hi."))
    _, events = ask(ada, copilot.pk, form_of(builder, copilot))
    [told] = [data for name, data in events if name == "playgroundModelCall"]
    call = provider.calls[0]
    assert told["model"] == call.model
    assert [one["text"] for one in told["messages"]] == [one.text for one in call.messages]
    assert told["tools"] == [
        {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
        for tool in call.tools
    ]


@pytest.mark.database
def test_a_trial_is_kept_as_one_and_counts_nowhere(monkeypatch, builder, ada):
    copilot = make_published(logging=Logging.NOTHING)
    script(monkeypatch, text("Hi."))
    ask(ada, copilot.pk, form_of(builder, copilot))
    run = Run.objects.get()
    assert (run.principal, run.copilot_version_id) == (f"playground:{ada.pk}", None)
    assert run.user is not None
    assert run.user == Conversation.objects.get().user
    assert (run.user.identifier, run.user.source) == (ada.username, "admin")
    assert DailyUsage.objects.count() == 0
    assert list(Conversation.objects.of_callers()) == []


def test_a_chat_goes_on_through_a_call_to_the_client(monkeypatch, builder, ada):
    copilot = make_copilot(widget_data="fetch", citations="off")
    widget = {
        "uuid": "91ae1153-7b4d-451c-adc5-49856e90a0e6",
        "origin": "Playground",
        "widget_id": "prices",
        "name": "Prices",
        "description": "Prices",
        "params": [],
        "metadata": {},
    }
    widgets = {"primary": [widget], "secondary": [], "extra": []}
    script(monkeypatch, text("It is 4."))
    form = form_of(builder, copilot)
    query = {**HELLO, "widgets": widgets}
    _, events = ask(ada, copilot.pk, form, query)
    name, call = events[-1]
    assert name == "copilotFunctionCall"
    made = {"function": call["function"], "input_arguments": call["input_arguments"]}
    data = [
        {"items": [{"content": "4", "data_format": {"data_type": "object", "parse_as": "text"}}]}
    ]
    query["messages"] = [
        *HELLO["messages"],
        {"role": "ai", "content": json.dumps(made)},
        {"role": "tool", **made, "data": data, "extra_state": call["extra_state"]},
    ]
    _, events = ask(ada, copilot.pk, form, query)
    assert read_answer(events) == "It is 4."
    assert Conversation.objects.get().n_runs == 2


def test_a_form_with_errors_is_rejected_with_them(builder: Client, ada: User):
    copilot = make_copilot()
    form = merged(form_of(builder, copilot), {"name": [""]})
    status, error = ask(ada, copilot.pk, form)
    assert (status, error["code"]) == (422, "unusable-request")
    assert "Name" in error["detail"]


def test_a_draft_that_cannot_answer_says_why_in_the_stream(builder: Client, ada: User):
    copilot = make_copilot()
    provider = copilot.provider
    provider.api_key_env = "COPILOT_KEY_NOT_SET"
    provider.save()
    _, events = ask(ada, copilot.pk, form_of(builder, copilot))
    assert "COPILOT_KEY_NOT_SET" in json.dumps(events)


@pytest.mark.parametrize(
    "who",
    [None, {"groups": (Role.REVIEWERS,)}, {"groups": (), "is_superuser": True, "is_staff": False}],
    ids=["nobody", "a reviewer", "a superuser who is not staff"],
)
@pytest.mark.parametrize("name", [pattern.name for pattern in urlpatterns])
def test_only_builders_reach_the_urls(client: Client, name: str, who: dict[str, Any] | None):
    copilot = make_copilot()
    make_case(copilot)
    if who is not None:
        groups, more = who["groups"], {key: who[key] for key in who if key != "groups"}
        client.force_login(make_user(*groups, **more))
    url = reverse(f"playground:{name}", args=[copilot.pk])
    refused = {client.get(url).status_code, client.post(url).status_code}
    assert refused <= {401, 403, 405}
    assert refused & {401, 403}
