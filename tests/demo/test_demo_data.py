"""Demo conversations: loaded and removed with one click."""

from datetime import timedelta

from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone
import pytest

from copilot_admin.agent.providers.demo_answers import find_demo_answer
from copilot_admin.demo.loading import has_demo_data, read_demo_conversations
from copilot_admin.import_export.templates import TemplateGroup, templates
from copilot_admin.models import (
    Conversation,
    Copilot,
    Criterion,
    EndUser,
    Feedback,
    HourlyUsage,
    Outcome,
    Run,
    ToolUsage,
    Turn,
    Verdict,
)
from tests.factories import make_user
from tests.polling import eventually

DEMO_CONVERSATIONS = read_demo_conversations()
SLUGS = {row.copilot for row in DEMO_CONVERSATIONS}
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]


@pytest.fixture
def loaded(admin_client):
    admin_client.post(reverse("admin:demo_load"))
    return admin_client


def test_each_question_has_a_prepared_answer():
    for row in DEMO_CONVERSATIONS:
        assert all(find_demo_answer(one, role=row.copilot) for one in row.questions), row


@pytest.mark.parametrize(
    "slug", [slug for slug, one in templates().items() if one.group is TemplateGroup.JOBS]
)
def test_starter_questions_of_ready_made_copilots_have_prepared_answers(slug):
    copilot = templates()[slug].entry
    role = copilot["system_prompt"].splitlines()[0]
    assert [one for one in copilot["starters"] if not find_demo_answer(one, role=role)] == []


def test_loading_fills_every_kind_of_page(loaded):
    now = timezone.now()
    conversations = Conversation.objects.filter(copilot__slug__in=SLUGS)
    assert conversations.count() == len(DEMO_CONVERSATIONS) == 40
    assert now - timedelta(days=31) < conversations.last().first_at
    assert conversations.first().last_at < now
    assert conversations.filter(n_turns__gt=1).exists()
    assert conversations.filter(n_down__gt=0).count() == 5
    assert conversations.filter(has_error=True).count() == 3
    assert Verdict.objects.filter(marks__isnull=False).count() == 3
    assert not Run.objects.filter(outcome=Outcome.COMPLETED, cost=None).exists()
    assert sum(HourlyUsage.objects.values_list("questions", flat=True)) == Turn.objects.count()
    assert set(ToolUsage.objects.values_list("kind", flat=True)) == {"widget", "server"}
    assert Feedback.objects.filter(created_at__gt=now - timedelta(minutes=5)).count() == 0


def test_loading_twice_changes_nothing(loaded):
    loaded.post(reverse("admin:demo_load"))
    assert Conversation.objects.count() == len(DEMO_CONVERSATIONS)


def test_removing_leaves_nothing(loaded):
    loaded.post(reverse("admin:demo_remove"))
    assert eventually(lambda: not Criterion.objects.exists())  # the last to go
    assert not has_demo_data()
    tables = (Conversation, Run, EndUser, Feedback, Verdict, Criterion, HourlyUsage, Copilot)
    assert [table.__name__ for table in tables if table.objects.exists()] == []


@pytest.mark.parametrize("name", ["demo_load", "demo_remove"])
def test_reviewers_can_neither_load_nor_remove(client, name):
    client.force_login(make_user("Reviewers"))
    assert client.post(reverse(f"admin:{name}")).status_code == 403
    assert User.objects.count() == 1
    assert not has_demo_data()
