"""A question of the playground is saved as a test."""

from io import BytesIO
import json
from typing import Any

from django.test import Client
from django.urls import reverse
import pytest

from copilot_admin.copilots.test_cases import MAX_TEST_CASES, as_row
from copilot_admin.models import TestCase
from tests.factories import make_case, make_copilot

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


def save(client: Client, pk: int, question: Any) -> tuple[int, Any]:
    text = question if isinstance(question, str) else json.dumps(question)
    sent = BytesIO(text.encode())  # a file, as the page's script sends it
    response = client.post(reverse("playground:save", args=[pk]), {"question": sent})
    return response.status_code, response.json()


def test_one_that_was_asked_before_says_in_which_conversation(builder):
    copilot = make_copilot()
    sent = {"question": json.dumps(SAID), "playground-origin": "12"}
    builder.post(reverse("playground:save", args=[copilot.pk]), sent)
    assert TestCase.objects.get().origin == 12


def test_it_stands_behind_the_others_and_its_page_is_named(builder):
    copilot = make_copilot()
    make_case(copilot)
    status, said = save(builder, copilot.pk, SAID)
    saved = TestCase.objects.get(position=1)
    assert status == 200
    url = reverse("admin:copilot_admin_copilot_test", args=[copilot.pk, saved.pk])
    assert said["url"] == url
    assert as_row(saved) == {
        "question": "How much?",
        "earlier": SAID["earlier"],
        "widgets": SAID["widgets"],
        "options": {"deep": True},
        "timezone": "UTC",
    }


@pytest.mark.parametrize(
    "question",
    [
        "{",
        [],
        {"question": ""},
        {**SAID, "widgets": [{"text": "5"}]},
        {**SAID, "widgets": [{"id": "w", "text": "x" * 10 * 1024 * 1024}]},
    ],
    ids=["broken", "empty", "no question", "no id", "too large"],
)
def test_an_invalid_test_is_rejected(builder, question):
    status, said = save(builder, make_copilot().pk, question)
    assert status == 422
    assert said["detail"]
    assert not TestCase.objects.exists()


@pytest.mark.database
def test_a_copilot_has_a_limited_number_of_tests(builder):
    copilot = make_copilot()
    TestCase.objects.bulk_create(
        TestCase(copilot=copilot, position=number, question="?") for number in range(MAX_TEST_CASES)
    )
    assert save(builder, copilot.pk, SAID)[0] == 422
