"""The copilots that a new server starts with, asked by somebody who has just added it."""

import json
from typing import Any

from django.conf import settings
from django.core.management import call_command
import pytest

from copilot_admin.models import Feedback, Turn
from tests.wire import Line
from tests.workspace.client import Workspace, text_of

pytestmark = pytest.mark.django_db(transaction=True)

SAMPLES = settings.BASE_DIR / "copilot_admin" / "samples" / "copilots.yaml"


def listed(url: str) -> dict[str, Any]:
    with Line(url, method="GET") as line:
        found: dict[str, Any] = json.loads(line.read_all())
    return found


def test_each_takes_feedback_on_its_answers(service_url):
    call_command("copilots", "import", str(SAMPLES), "--publish", verbosity=0)
    agents = listed(f"{service_url}/agents.json")
    assert len(agents) == 3
    for slug, agent in agents.items():
        assert agent["features"]["feedback"] is True
        chat = Workspace(path=f"/v1/copilots/{slug}/query", url=service_url, trace_id=slug)
        [events] = chat.ask("What should I know?")
        judgement = {"vote": "thumbs_up", "tags": [], "ai_response": text_of(events)}
        headers = {"X-Trace-Id": slug}
        with Line(agent["endpoints"]["feedback"], body=judgement, headers=headers) as line:
            assert json.loads(line.read_all()) == {"status": "ok"}
    assert {one.turn for one in Feedback.objects.all()} == set(Turn.objects.all())
    assert Turn.objects.count() == 3
    for card in listed(f"{service_url}/copilots.json").values():
        assert "feedback" not in card["features"]
        assert set(card["endpoints"]) == {"query"}
