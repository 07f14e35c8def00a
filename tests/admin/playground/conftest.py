"""Builders, and a way to ask as the page does."""

from io import BytesIO
import json
from typing import Any

from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.test import AsyncClient, Client
from django.urls import reverse
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.models import Copilot
from protocol.sse import decode
from tests.admin.pages import Values, read_form
from tests.agent.scripted import ScriptedProvider
from tests.factories import make_user

HELLO = {"messages": [{"role": "human", "content": "Hello"}]}
OWN = {"id", "name", "slug", "provider", "live", "created_at", "updated_at"}
SETTINGS = sorted({field.name for field in Copilot._meta.concrete_fields} - OWN)
FORMS: dict[str, Values] = {}  # of pages that were loaded, by the settings of the copilot


@pytest.fixture
def ada() -> User:
    """A builder."""
    return make_user(Role.BUILDERS, username="ada")


@pytest.fixture
def builder(client: Client, ada: User) -> Client:
    """Her browser."""
    client.force_login(ada)
    return client


def script(monkeypatch: pytest.MonkeyPatch, *steps: Any) -> ScriptedProvider:
    """Let a provider answer with these steps."""
    provider = ScriptedProvider(steps)
    monkeypatch.setattr("copilot_admin.copilots.live.make_provider", lambda spec: provider)
    return provider


def form_of(client: Client, copilot: Copilot) -> Values:
    """Return the form of a copilot's page, which is loaded once per settings."""
    settings = Copilot.objects.values(*SETTINGS, "live__number", "provider__kind").get(
        pk=copilot.pk
    )
    form = FORMS.get(repr(settings))
    if form is None:
        url = reverse("admin:copilot_admin_copilot_change", args=[copilot.pk])
        FORMS[repr(settings)] = form = read_form(client, url, form_id="copilot_form")
    copilot.refresh_from_db()
    own = {
        "name": copilot.name,
        "slug": copilot.slug,
        "provider": str(copilot.provider_id),
        "seen": copilot.updated_at.isoformat(),
    }
    return {name: [own[name]] if name in own else list(values) for name, values in form.items()}


def ask(
    user: User | None, copilot_id: int, form: Any, query: Any = HELLO, *, chat: str = "t-1"
) -> tuple[int, Any]:
    """Ask as the page does, and return the status with the events of the answer or the error."""

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


def read_answer(events: Any) -> str:
    """Return the text of a streamed answer."""
    return "".join(data["delta"] for name, data in events if "Chunk" in name)
