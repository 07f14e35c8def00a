"""A question of the playground is kept with the copilot, or it is said why not."""

from io import BytesIO
import json
from typing import Any

from django.test import Client
from django.urls import reverse
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.copilots.questions.entry import MOST_QUESTIONS
from copilot_admin.import_export.questions import row_of
from copilot_admin.jobs.deletion import mark_for_deletion
from copilot_admin.models import SavedQuestion
from tests.factories import make_copilot, make_saved, make_user

pytestmark = pytest.mark.django_db
SAID = {
    "question": "How much?",
    "earlier": [{"role": "human", "content": "Hello"}, {"role": "ai", "content": "Hi"}],
    "widgets": [{"id": "prices", "rows": [{"close": 106}]}],
    "files": [],
    "options": {"deep": True},
    "model": "",
    "timezone": "UTC",
    "tools": [],
    "results": {},
}


@pytest.fixture
def builder(client: Client) -> Client:
    client.force_login(make_user(Role.BUILDERS))
    return client


def save(client: Client, pk: int, question: Any) -> tuple[int, Any]:
    text = question if isinstance(question, str) else json.dumps(question)
    sent = BytesIO(text.encode())  # a file, as the page's script sends it
    response = client.post(reverse("playground:save", args=[pk]), {"question": sent})
    return response.status_code, response.json()


def test_one_that_was_asked_before_says_in_which_conversation(builder):
    copilot = make_copilot()
    sent = {"question": json.dumps(SAID), "playground-origin": "12"}
    builder.post(reverse("playground:save", args=[copilot.pk]), sent)
    assert SavedQuestion.objects.get().origin == 12


def test_it_stands_behind_the_others_and_its_page_is_named(builder):
    copilot = make_copilot()
    make_saved(copilot)
    status, said = save(builder, copilot.pk, SAID)
    saved = SavedQuestion.objects.get(position=1)
    assert status == 200
    assert said == {
        "sentence": "The question is saved. Say what its answer shall be.",
        "url": reverse("admin:copilot_admin_copilot_question", args=[copilot.pk, saved.pk]),
    }
    assert row_of(saved) == {
        "question": "How much?",
        "earlier": SAID["earlier"],
        "widgets": SAID["widgets"],
        "options": {"deep": True},
        "timezone": "UTC",
    }


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("{", "The question is not saved. "),
        ([], "The question is not saved. "),
        ({"question": ""}, "The question is not saved. question: must not be empty."),
        (
            {**SAID, "widgets": [{"text": "5"}]},
            "The question is not saved. The first widget has no id.",
        ),
        (
            {**SAID, "widgets": [{"id": "w", "text": "x" * 10 * 1024 * 1024}]},
            "The question is not saved. has 10.0 MB with all that it brings; 4 MB are the most.",
        ),
    ],
)
def test_what_cannot_be_kept_is_said(builder, question, sentence):
    status, said = save(builder, make_copilot().pk, question)
    assert status == 422
    assert said["detail"].startswith(sentence)
    assert not SavedQuestion.objects.exists()


@pytest.mark.database
def test_more_than_a_copilot_may_have_are_refused(builder):
    copilot = make_copilot()
    SavedQuestion.objects.bulk_create(
        SavedQuestion(copilot=copilot, position=number, question="?")
        for number in range(MOST_QUESTIONS)
    )
    assert save(builder, copilot.pk, SAID) == (
        422,
        {
            "detail": "The question is not saved. "
            "A copilot has 1000 saved questions at most. Delete one first."
        },
    )


def test_a_copilot_that_goes_takes_no_more(builder):
    copilot = make_copilot()
    mark_for_deletion([copilot.pk])
    assert save(builder, copilot.pk, SAID) == (404, {"detail": "This copilot is gone."})


def test_whoever_makes_no_copilots_keeps_no_questions(client):
    client.force_login(make_user(Role.REVIEWERS))
    assert save(client, make_copilot().pk, SAID)[0] == 403
    assert client.get(reverse("playground:save", args=[1])).status_code == 405
