"""The pages of saved questions: read side by side, asked, stopped, edited."""

from datetime import timedelta
from typing import Any

from django.test import Client
from django.urls import reverse
from django.utils import timezone
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.models import AnswerState, Copilot, Judgement, SavedAnswer, SavedQuestion, Side
from copilot_admin.studio.question_runs import digest_of_draft
from copilot_admin.upkeep import background
from copilot_admin.upkeep.background import BACKGROUND
from tests.admin.pages import messages_of, submit
from tests.factories import make_copilot, make_published, make_saved, make_user
from tests.waiting import HANGS_SECONDS

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]
WIDGET = {"id": "prices", "rows": [{"close": 106}]}


@pytest.fixture(autouse=True)
def _background_is_open() -> None:
    background.start()


@pytest.fixture
def builder(client: Client) -> Client:
    client.force_login(make_user(Role.BUILDERS, username="ada"))
    return client


def url(name: str, *arguments: object) -> str:
    return reverse(f"admin:copilot_admin_copilot_question{name}", args=arguments)


def text_of(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def answer(saved: SavedQuestion, side: Side, text: str, **changes: object) -> SavedAnswer:
    return SavedAnswer.objects.create(
        **{
            "question": saved,
            "side": side,
            "state": AnswerState.DONE,
            "text": text,
            "judgement": Judgement.AS_EXPECTED,
            "answered_at": timezone.now() + timedelta(seconds=1),
            **changes,
        }
    )


def test_draft_and_live_stand_side_by_side_with_marked_differences(builder):
    copilot = make_published()
    saved = make_saved(copilot, "How much?", expectation={"number": 5, "tolerance": 1})
    answer(saved, Side.LIVE, "It is four.", version_number=1)
    answer(saved, Side.DRAFT, "It is <5>.", digest=digest_of_draft(copilot))
    page = text_of(builder, url("s", copilot.pk))
    assert "It has the number 5, give or take 1." in page
    assert "It is <del>four</del><ins>&lt;5&gt;</ins>." in page
    assert page.count(">As expected</span>") == 2
    assert "has changed since" not in page


def test_an_answer_is_old_when_question_draft_or_version_changed(builder):
    copilot = make_published()
    saved = make_saved(copilot)
    answer(saved, Side.LIVE, "a", version_number=7)
    answer(saved, Side.DRAFT, "b", digest="other")
    assert text_of(builder, url("s", copilot.pk)).count("has changed since") == 2


@pytest.mark.parametrize(
    ("expectation", "words"),
    [
        ({}, "Any answer will do."),
        ({"contains": "a<b"}, "It contains “a&lt;b”."),
        ({"lacks": "sorry"}, "It does not contain “sorry”."),
        ({"number": 5}, "It has the number 5."),
        ({"cites": "prices"}, "It cites the widget “prices”."),
        ({"calls": "f"}, "It calls the function “f”."),
        ({"judged": "It greets."}, "A model finds: It greets."),
        ({"smells": "good"}, "there is no such key."),
    ],
)
def test_each_expectation_is_said_in_words(builder, expectation, words):
    copilot = make_copilot()
    make_saved(copilot, expectation=expectation, body={"widgets": [WIDGET]})
    assert words in text_of(builder, url("s", copilot.pk))


def test_all_are_asked_with_progress_and_then_nothing_is_unfinished(builder):
    copilot = make_published()
    make_saved(copilot, "One?")
    make_saved(copilot, "Two?")
    response = builder.post(url("_ask", copilot.pk), {"side": "both"}, follow=True)
    assert messages_of(response) == ["4 answers are awaited."]
    assert BACKGROUND.wait_until_idle(timeout=HANGS_SECONDS)
    rows = text_of(builder, url("_rows", copilot.pk))
    assert 'data-unfinished="0"' in rows
    assert rows.count("Answered, nothing was expected") == 4


def test_one_is_asked_alone_and_none_of_another_copilot(builder):
    copilot = make_copilot()
    saved, other = make_saved(copilot), make_saved(make_copilot())
    for question in (saved, other):
        builder.post(url("_ask", copilot.pk), {"side": "draft", "question": question.pk})
    assert BACKGROUND.wait_until_idle(timeout=HANGS_SECONDS)
    assert [row.question for row in SavedAnswer.objects.select_related("question")] == [saved]


def test_what_waits_is_shown_and_stopped(builder):
    copilot = make_copilot()
    saved = make_saved(copilot)
    answer(saved, Side.DRAFT, "", state=AnswerState.WAITING, answered_at=None)
    page = text_of(builder, url("s", copilot.pk))
    assert "0 of 1 answers are there." in page
    response = builder.post(url("_stop", copilot.pk), follow=True)
    assert messages_of(response) == ["Nothing more is asked. The answers that there are stay."]
    assert not SavedAnswer.objects.exists()


def test_looking_asks_for_no_change(client):
    client.force_login(make_user(Role.REVIEWERS))
    copilot = make_copilot()
    saved = make_saved(copilot)
    assert client.get(url("s", copilot.pk)).status_code == 403
    for name, ids in (
        ("_ask", [copilot.pk]),
        ("_stop", [copilot.pk]),
        ("", [copilot.pk, saved.pk]),
    ):
        assert client.post(url(name, *ids)).status_code == 403


def test_asking_and_stopping_are_no_links(builder):
    copilot = make_copilot()
    assert builder.get(url("_ask", copilot.pk)).status_code == 405
    assert builder.get(url("_stop", copilot.pk)).status_code == 405


def edited(client: Client, saved: SavedQuestion, **changes: str) -> Any:
    address = url("", saved.copilot_id, saved.pk)
    return submit(client, address, changes, form_id="question-form", button="_save")


def test_an_expectation_is_edited_and_what_the_question_brings_stays(builder):
    saved = make_saved(make_copilot(), body={"widgets": [WIDGET]}, expectation={"lacks": "x"})
    edited(builder, saved, question="How much?", kind="number", expected="106.5", tolerance="0.5")
    saved.refresh_from_db()
    assert saved.question == "How much?"
    assert saved.expectation == {"number": 106.5, "tolerance": 0.5}
    assert saved.body == {"widgets": [WIDGET]}
    edited(builder, saved, kind="", tolerance="")
    saved.refresh_from_db()
    assert saved.expectation == {}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"kind": "number", "expected": "many"}, "Write a number, such as 106.5."),
        ({"kind": "cites", "expected": "news"}, "Its widgets: prices."),
        ({"kind": "contains", "expected": ""}, "expect.contains: must not be empty."),
        ({"question": ""}, "This field is required."),
        ({"kind": "matches", "expected": "x"}, "Select a valid choice."),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_lost(builder, changes, sentence):
    saved = make_saved(make_copilot(), body={"widgets": [WIDGET]}, expectation={"lacks": "x"})
    response = edited(builder, saved, **changes)
    assert sentence in response.content.decode()
    saved.refresh_from_db()
    assert (saved.question, saved.expectation) == ("What?", {"lacks": "x"})


def test_a_question_is_deleted_with_its_answers_alone(builder):
    copilot = make_copilot()
    saved = make_saved(copilot, answered=Side.DRAFT)
    stays = make_saved(copilot)
    builder.post(url("", copilot.pk, saved.pk), {"_delete": "1"})
    assert list(SavedQuestion.objects.all()) == [stays]
    assert not SavedAnswer.objects.exists()


def test_a_question_of_another_copilot_is_not_found(builder):
    saved = make_saved(make_copilot())
    assert builder.get(url("", make_copilot().pk, saved.pk)).status_code == 404


def test_the_page_of_a_copilot_leads_there(builder):
    copilot = make_copilot()
    assert isinstance(copilot, Copilot)
    change = reverse("admin:copilot_admin_copilot_change", args=[copilot.pk])
    assert url("s", copilot.pk) in text_of(builder, change)
