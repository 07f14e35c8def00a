"""An image that comes with a question, from Workspace to the model and into the transcript."""

import zlib

from django.test import Client as Browser
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.models import Blob, Conversation, Event, EventType, Node
from tests.agent.files.sample_files import base64
from tests.agent.files.sample_images import image, speckled
from tests.agent.scripted import text
from tests.api.test_query import script
from tests.factories import make_published, make_user
from tests.workspace.client import Workspace, text_of

FORM = {"data_type": "png", "filename": "chart.png"}
PICTURE = speckled("PNG", (40, 30))
WIDGET = {"uuid": "91ae1153-7b4d-451c-adc5-49856e90a0e6", "origin": "o", "widget_id": "chart", "name": "Chart", "description": "",
          "params": [], "metadata": {}}  # fmt: skip


def test_the_model_is_shown_it_and_the_transcript_knows_it_without_keeping_it(
    service_url: str, monkeypatch: pytest.MonkeyPatch
):
    make_published(slug="seer", sees_images=True, widget_data="fetch", access="open")
    provider = script(monkeypatch, text("It is red."))
    attached = {"content": base64(image()), "data_format": {**FORM, "filename": "attached.png"}}
    result = {"items": [{"content": base64(PICTURE), "data_format": FORM}]}
    workspace = Workspace(
        url=service_url,
        path="/v1/copilots/seer/query",
        functions={"get_widget_data": lambda _: [result]},
        request={
            "widgets": {"primary": [WIDGET], "secondary": [], "extra": []},
            "context": [{"uuid": "c", "name": "AttachedRequest", "data": {"items": [attached]}}],
        },
    )
    _, events = workspace.ask("What is it?")
    assert text_of(events) == "It is red."
    [question] = [one for one in provider.calls[0].messages if one.images]
    assert question.text.startswith("What is it?")
    assert [one.name for one in question.images] == ["attached.png", "chart.png"]

    files = Event.objects.filter(type=EventType.FILE).values_list("payload", flat=True)
    assert list(files) == [
        {"name": "attached.png", "type": "png", "size": len(image()), "pixels": [8, 4]},
        {"name": "chart.png", "type": "png", "size": len(PICTURE), "pixels": [40, 30]},
    ]
    stored = [zlib.decompress(one.data).decode() for one in Blob.objects.all()]
    stored += [str(one) for one in Event.objects.values_list("payload", flat=True)]
    stored += [str(one) for one in Node.objects.values_list("text", flat=True)]
    for data in (image(), PICTURE):
        assert not any(base64(data) in one for one in stored)
    assert any("it is not kept" in one for one in stored)

    browser = Browser()
    browser.force_login(make_user(Role.REVIEWERS))
    conversation = Conversation.objects.get()
    page = browser.get(f"/admin/copilot_admin/conversation/{conversation.pk}/change/")
    shown = page.content.decode()
    assert "chart.png" in shown
