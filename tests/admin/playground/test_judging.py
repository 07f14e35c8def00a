"""Thumbs in the playground: kept with the trial, by whoever tried."""

from django.test import Client
from django.urls import reverse
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.models import Conversation, Copilot, CostConfidence, Feedback, Run, Turn
from tests.admin.playground.test_playground import ask, form_of, script
from tests.agent.scripted import text
from tests.factories import make_copilot, make_provider, make_user

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def copilot(monkeypatch, builder, ada) -> Copilot:
    """Ada has asked it once."""
    made = make_copilot(provider=make_provider(name="One"))
    script(monkeypatch, text("Hi."))
    ask(ada, made.pk, form_of(builder, made))
    return made


def judge(client: Client, copilot_id: int, **sent: str) -> tuple[int, str]:
    response = client.post(reverse("playground:judge", args=[copilot_id]), sent)
    return response.status_code, response.json()["detail"]


@pytest.mark.database
def test_a_thumb_is_kept_changed_and_shown_with_the_answer(builder, copilot):
    turn = str(Turn.objects.get().pk)
    assert judge(builder, copilot.pk, turn=turn, vote="thumbs_up") == (200, "Thumbs up is kept.")
    assert judge(builder, copilot.pk, turn=turn, vote="thumbs_down") == (
        200,
        "Thumbs down is kept.",
    )
    assert [one.value for one in Feedback.objects.all()] == [-1]
    conversation = Conversation.objects.get()
    assert (conversation.n_up, conversation.n_down) == (0, 1)
    url = reverse("playground:answer", args=[copilot.pk]) + "?chat=t-1"
    page = builder.get(url).content.decode()
    assert 'aria-pressed="true" data-vote="thumbs_down"' in page
    assert 'aria-pressed="false" data-vote="thumbs_up"' in page


def test_the_figures_say_what_is_known_of_the_cost(builder, copilot):
    url = reverse("playground:answer", args=[copilot.pk]) + "?chat=t-1"
    assert "$0.00</span>" in builder.get(url).content.decode()  # the rehearsal
    Run.objects.update(cost=None, cost_confidence=CostConfidence.UNKNOWN)
    page = builder.get(url).content.decode()
    assert "cost unknown</span>" in page
    assert "Draft" in page


def test_a_vote_is_up_or_down(builder, copilot):
    assert judge(builder, copilot.pk, turn="1", vote="sideways")[0] == 422
    assert not Feedback.objects.exists()


def test_nobody_judges_the_trial_of_somebody_else(builder, copilot):
    turn = str(Turn.objects.get().pk)
    builder.force_login(make_user(Role.BUILDERS))
    assert judge(builder, copilot.pk, turn=turn, vote="thumbs_up")[0] == 404
    builder.force_login(make_user(Role.REVIEWERS))
    assert judge(builder, copilot.pk, turn=turn, vote="thumbs_up")[0] == 403
    assert builder.get(reverse("playground:judge", args=[copilot.pk])).status_code == 405
    assert not Feedback.objects.exists()
