"""The pages of replays: begun, watched, paused, bounded, stopped, each pair side by side."""

from decimal import Decimal
from typing import Any

from django.test import Client
from django.urls import reverse
from django.utils import timezone
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.evaluation.replay_queue import begin
from copilot_admin.evaluation.replay_targets import WantedTarget, replay_of
from copilot_admin.models import (
    AnswerState,
    Copilot,
    Replay,
    ReplayAnswer,
    ReplayState,
    SavedQuestion,
)
from tests.admin.pages import messages_of
from tests.factories import make_copilot, make_published, make_saved, make_user

pytestmark = pytest.mark.django_db
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def builder() -> Client:
    browser = Client()
    browser.force_login(make_user(Role.BUILDERS))
    return browser


def url(name: str, *args: object) -> str:
    return reverse(f"admin:copilot_admin_copilot_{name}", args=args)


def begun(copilot: Copilot, **wanted: Any) -> Replay:
    return begin(replay_of(copilot, WantedTarget(**wanted)), SavedQuestion.objects.all())


def answered(replay: Replay, **changes: Any) -> None:
    ReplayAnswer.objects.filter(replay=replay).update(
        **{
            "state": AnswerState.DONE,
            "answered_at": timezone.now(),
            "text": f"Now {HOSTILE}",
            "baseline": "recorded",
            "before_text": "Then",
            "is_changed": True,
            "is_slower": True,
            "ms": 10,
            "before_ms": 1,
            "cost": Decimal("0.5"),
            "before_cost": Decimal(1),
            **changes,
        }
    )


def test_a_replay_is_begun_of_the_questions_of_a_label(builder: Client):
    copilot = make_published()
    make_saved(copilot, "Bad?", label="bad")
    make_saved(copilot, "Good?")
    page = builder.get(url("replays", copilot.pk)).content.decode()
    assert 'value="label:bad"' in page
    sent = {
        "questions": "label:bad",
        "target": "version",
        "version": "1",
        "most_cost": "0.5",
    }
    response = builder.post(url("replays", copilot.pk), sent)
    replay = Replay.objects.get()
    assert response["Location"] == url("replay", copilot.pk, replay.pk)
    assert (replay.version_number, replay.most_cost, replay.label) == (1, Decimal("0.5"), "bad")
    assert [one.head for one in replay.answers.all()] == ["Bad?"]
    assert "Version 1" in builder.get(url("replays", copilot.pk)).content.decode()


def test_what_cannot_be_begun_keeps_what_was_typed(builder: Client):
    copilot = make_copilot()
    make_saved(copilot)
    sent = {"questions": "all", "target": "model", "model": "", "most_cost": "2"}
    page = builder.post(url("replays", copilot.pk), sent).content.decode()
    assert "Write which model is asked." in page
    assert 'value="2"' in page
    bad = builder.post(url("replays", copilot.pk), {**sent, "target": "x", "most_cost": "-1"})
    assert bad.status_code == 200
    assert not Replay.objects.exists()


def test_each_pair_stands_side_by_side_as_text(builder: Client):
    copilot = make_copilot()
    make_saved(copilot, HOSTILE)
    replay = begun(copilot)
    answered(replay)
    Replay.objects.update(state=ReplayState.DONE)
    one = ReplayAnswer.objects.get()
    page = builder.get(url("replay", copilot.pk, replay.pk)).content.decode()
    assert "1 of 1 changed, 1 slower than twice, cost −50 %" in page
    assert HOSTILE not in page
    assert 'data-unfinished="0"' in page
    pair = url("replay_pair", copilot.pk, replay.pk, one.pk)
    assert f'data-load="{pair}?part=1"' in page
    part = builder.get(f"{pair}?part=1").content.decode()
    assert ("<del>Then</del>" in part, HOSTILE in part) == (True, False)
    assert "struck out" in builder.get(pair).content.decode()
    assert builder.get(url("replay_pair", copilot.pk, 0, one.pk)).status_code == 404


def test_it_is_paused_goes_on_and_stops(builder: Client):
    copilot = make_copilot()
    make_saved(copilot)
    replay = begun(copilot)
    wish = url("replay_wish", copilot.pk, replay.pk)
    said = []
    for wanted in ("pause", "resume", "stop", "resume"):
        said += messages_of(builder.post(wish, {"wish": wanted}, follow=True))
        replay.refresh_from_db()
        said.append(replay.state)
    assert said == [
        "It pauses. Questions under way are still answered.",
        "paused",
        "It goes on.",
        "waiting",
        "It has stopped. The answers that there are stay.",
        "stopped",
        "It has ended meanwhile.",
        "stopped",
    ]
    part = builder.post(f"{wish}?part=rows", {"wish": "stop"})
    assert part["X-Said"] == "It%20has%20ended%20meanwhile."
    assert builder.post(wish, {"wish": "dance"}).status_code == 404


@pytest.mark.parametrize(
    ("typed", "state"),
    [("", "waiting"), ("2", "waiting"), ("0.1", "cost-bound"), ("x", "cost-bound")],
)
def test_a_bound_that_was_reached_is_raised_before_it_goes_on(builder: Client, typed, state):
    copilot = make_copilot()
    make_saved(copilot)
    replay = begun(copilot, most_cost=Decimal("0.2"))
    Replay.objects.update(state=ReplayState.COST_BOUND)
    page = builder.get(url("replay", copilot.pk, replay.pk)).content.decode()
    assert "It stopped at its bound of $0.20." in page
    assert page.count("so far.") == 1
    builder.post(url("replay_wish", copilot.pk, replay.pk), {"wish": "resume", "most_cost": typed})
    replay.refresh_from_db()
    assert replay.state == state


def test_a_replay_is_deleted_and_the_questions_stay(builder: Client):
    copilot = make_copilot()
    make_saved(copilot)
    replay = begun(copilot)
    builder.post(url("replay_delete", copilot.pk, replay.pk))
    assert (Replay.objects.count(), SavedQuestion.objects.count()) == (0, 1)
    assert builder.get(url("replay", copilot.pk, replay.pk)).status_code == 404
    assert builder.get(url("replay_rows", copilot.pk, replay.pk)).status_code == 404
