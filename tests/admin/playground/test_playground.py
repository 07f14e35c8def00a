"""A question to a draft that is not saved: answered by the engine, kept apart, seen by nobody else."""

from io import BytesIO
import json
from typing import Any

from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.test import AsyncClient, Client
from django.urls import reverse
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.models import Conversation, Copilot, DailyUsage, Logging, Run
from protocol.sse import decode
from tests.admin.pages import Values, merged, read_form
from tests.agent.scripted import ScriptedProvider, text
from tests.factories import make_copilot, make_provider, make_published, make_user

pytestmark = pytest.mark.django_db(transaction=True)
HELLO = {"messages": [{"role": "human", "content": "Hello"}]}
OWN = {"id", "name", "slug", "provider", "live", "created_at", "updated_at"}
SETTINGS = sorted({field.name for field in Copilot._meta.concrete_fields} - OWN)
DRAWN: dict[str, Values] = {}  # the values of forms that pages had, by the settings of the copilot


def script(monkeypatch: pytest.MonkeyPatch, *steps: Any) -> ScriptedProvider:
    provider = ScriptedProvider(steps)
    monkeypatch.setattr("copilot_admin.copilots.live.make_provider", lambda spec: provider)
    return provider


def form_of(client: Client, copilot: Copilot) -> Values:
    """What the page of a copilot sends; of those with the same settings it is drawn once."""
    settings = Copilot.objects.values(*SETTINGS, "live__number", "provider__kind").get(
        pk=copilot.pk
    )
    drawn = DRAWN.get(repr(settings))
    if drawn is None:
        url = reverse("admin:copilot_admin_copilot_change", args=[copilot.pk])
        DRAWN[repr(settings)] = drawn = read_form(client, url, form_id="copilot_form")
    copilot.refresh_from_db()
    own = {
        "name": copilot.name,
        "slug": copilot.slug,
        "provider": str(copilot.provider_id),
        "seen": copilot.updated_at.isoformat(),
    }
    return {name: [own[name]] if name in own else list(values) for name, values in drawn.items()}


def ask(
    user: User | None, copilot_id: int, form: Any, query: Any = HELLO, *, chat: str = "t-1"
) -> tuple[int, Any]:
    """Asks as the page does; the events of the answer, or what was said instead."""

    client = AsyncClient()
    if user is not None:
        client.force_login(user)

    async def post() -> tuple[int, Any]:
        sent = query if isinstance(query, str) else json.dumps(query)
        response: Any = await client.post(
            reverse("playground:ask", args=[copilot_id]),
            {**form, "playground": BytesIO(sent.encode())},  # a file, as the page's script sends it
            headers={"X-Trace-Id": chat},
        )
        if response.status_code != 200:
            return response.status_code, json.loads(response.content)
        stream = b"".join([part async for part in response.streaming_content])
        return 200, [(name, json.loads(data)) for name, data in decode(stream)]

    return async_to_sync(post)()


def test_what_is_typed_and_not_saved_is_what_answers(monkeypatch, builder, ada):
    copilot = make_copilot(system_prompt="Saved prompt")
    provider = script(monkeypatch, text("Hi ", "there."))
    form = merged(form_of(builder, copilot), {"system_prompt": ["Typed prompt"]})
    status, events = ask(ada, copilot.pk, form)
    assert status == 200
    assert "".join(data["delta"] for name, data in events if "Chunk" in name) == "Hi there."
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


@pytest.mark.database
@pytest.mark.parametrize(
    ("query", "shown"), [("", 0), ("?playground=with", 1), ("?playground=only", 1)]
)
def test_transcripts_show_trials_only_where_they_are_asked_for(
    monkeypatch, builder, ada, reviewer, query, shown
):
    copilot = make_copilot()
    script(monkeypatch, text("Hi."))
    ask(ada, copilot.pk, form_of(builder, copilot))
    url = reverse("admin:copilot_admin_conversation_changelist")
    assert reviewer.get(url + query).context["cl"].result_count == shown
    url = reverse("admin:copilot_admin_conversation_change", args=[Conversation.objects.get().pk])
    assert "Playground of ada" in reviewer.get(url).content.decode()


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
    assert "".join(data["delta"] for name, data in events if "Chunk" in name) == "It is 4."
    assert Conversation.objects.get().n_runs == 2


def test_the_answer_is_drawn_as_in_a_transcript(monkeypatch, builder, ada):
    copilot = make_copilot()
    script(monkeypatch, text("Hello **you** <b>there</b>"))
    ask(ada, copilot.pk, form_of(builder, copilot))
    url = reverse("playground:answer", args=[copilot.pk])
    page = builder.get(f"{url}?chat=t-1").content.decode()
    assert "<strong>you</strong>" in page
    assert "<b>" not in page
    assert builder.get(f"{url}?chat=other").status_code == 404
    assert builder.get(url).status_code == 404


def test_nobody_else_sees_the_chat(monkeypatch, builder, ada):
    copilot = make_copilot()
    script(monkeypatch, text("Hi."))
    ask(ada, copilot.pk, form_of(builder, copilot))
    url = reverse("playground:answer", args=[copilot.pk]) + "?chat=t-1"
    builder.force_login(make_user(Role.BUILDERS))
    assert builder.get(url).status_code == 404
    builder.force_login(make_user(Role.REVIEWERS))
    assert builder.get(url).status_code == 403


def test_a_model_whose_tools_are_told_in_words_is_asked_too(builder, ada):
    copilot = make_copilot(provider=make_provider(tool_calling="text"), model="rehearsal")
    status, events = ask(ada, copilot.pk, form_of(builder, copilot))
    assert status == 200
    assert {name for name, _ in events} >= {"playgroundModelCall", "copilotMessageChunk"}


def test_a_form_that_cannot_be_understood_says_what_to_mend(builder, ada):
    copilot = make_copilot()
    form = merged(form_of(builder, copilot), {"name": [""], "temperature": ["9"]})
    assert ask(ada, copilot.pk, form) == (
        422,
        {
            "detail": "The draft cannot be asked yet. Name: This field is required. "
            "Temperature: Ensure this value is less than or equal to 2.",
            "code": "unusable-request",
        },
    )


def test_a_draft_that_cannot_answer_says_why_in_the_stream(builder, ada):
    copilot = make_copilot()
    provider = copilot.provider
    provider.api_key_env = "COPILOT_KEY_NOT_SET"
    provider.save()
    _, events = ask(ada, copilot.pk, form_of(builder, copilot))
    assert "which is not set" in json.dumps(events)


def test_who_is_logged_out_or_makes_no_copilots_is_told(builder):
    copilot = make_copilot()
    form = form_of(builder, copilot)
    assert ask(None, copilot.pk, form) == (
        401,
        {
            "detail": "You are logged out. Log in in another tab, then ask again.",
            "code": "unauthorized",
        },
    )
    assert ask(make_user(Role.REVIEWERS), copilot.pk, form)[0] == 403


def test_a_copilot_that_is_gone_is_not_found(builder, ada):
    copilot = make_copilot()
    form = form_of(builder, copilot)
    assert ask(ada, copilot.pk + 1, form) == (
        404,
        {"detail": "This copilot is gone.", "code": "not-found"},
    )
    assert builder.get(reverse("playground:ask", args=[copilot.pk])).status_code == 405


def test_the_page_of_a_copilot_has_the_playground_and_a_new_one_says_when(builder):
    url = reverse("admin:copilot_admin_copilot_change", args=[make_copilot().pk])
    assert 'id="playground"' in builder.get(url).content.decode()
    page = builder.get(reverse("admin:copilot_admin_copilot_add")).content.decode()
    assert "Save the draft once; then you can try it here" in page
