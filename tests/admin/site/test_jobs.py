"""Background jobs: one page, with buttons to pause and stop."""

from django.test import Client
from django.utils import timezone
from django_tasks.base import TaskResultStatus
from django_tasks_db.models import DBTaskResult
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.evaluation.question_queue import queue
from copilot_admin.evaluation.replay_queue import begin
from copilot_admin.evaluation.replay_targets import WantedTarget, replay_of
from copilot_admin.evaluation.running import WorkKind, running
from copilot_admin.jobs.deletion import mark_for_deletion
from copilot_admin.jobs.removal import begin_erasure
from copilot_admin.models import (
    AlertDelivery,
    AnswerState,
    PendingImport,
    Replay,
    SavedAnswer,
    SavedQuestion,
    Side,
)
from copilot_admin.privacy.scopes import PrivacyScope
from tests.factories import make_copilot, make_saved, make_user

pytestmark = pytest.mark.django_db
PAGE = "/admin/jobs/"
CONTROL = f"{PAGE}control/"


@pytest.fixture
def operator() -> Client:
    browser = Client()
    browser.force_login(make_user(Role.OPERATORS))
    return browser


def begun(name: str = "Analyst <b>") -> Replay:
    copilot = make_copilot(name=name)
    make_saved(copilot)
    questions = SavedQuestion.objects.filter(copilot=copilot)
    return begin(replay_of(copilot, WantedTarget()), questions)


def test_everything_that_runs_is_named_with_its_progress(operator: Client):
    replay = begun()
    mark_for_deletion([make_copilot(name="Old").pk])
    PendingImport.objects.create(user=make_user(username="ada"), files=[])
    queue([make_saved(make_copilot(name="Asked"))], [Side.DRAFT], user_id=None)
    AlertDelivery.objects.create(event="test", subject="Test")
    begin_erasure(PrivacyScope(principal="key:7"))
    found = {work.kind: work for work in running()}
    assert set(found) == set(WorkKind)
    assert (found[WorkKind.REMOVAL].done, found[WorkKind.REMOVAL].total) == (0, 0)
    assert (found[WorkKind.REPLAY].done, found[WorkKind.REPLAY].total) == (0, 1)
    assert (found[WorkKind.QUESTIONS].done, found[WorkKind.QUESTIONS].total) == (0, 1)
    page = operator.get(PAGE).content.decode()
    assert "Analyst &lt;b&gt;: The draft as it stood" in page
    assert ("Old" in page, "ada" in page, "Asked" in page) == (True, True, True)
    assert f"/replays/{replay.pk}/" not in page  # an operator may not see copilots
    assert "Erasure: Deleting transcripts" in page and "key:7" not in page
    part = operator.get(PAGE, headers={"HX-Request": "true"}).content.decode()
    assert 'data-unfinished="5"' in part
    assert "<html" not in part


def test_the_queue_of_the_workers_is_shown_with_what_failed(operator: Client, settings):
    settings.BACKGROUND = "database"
    assert "data-empty" in operator.get(PAGE).content.decode()
    for status, error in ((TaskResultStatus.READY, ""), (TaskResultStatus.FAILED, "x.Broken")):
        DBTaskResult.objects.create(
            status=status,
            args_kwargs={"args": ["secret"], "kwargs": {}},
            task_path="copilot_admin.jobs.removal.remove",
            run_after=timezone.now(),
            backend_name="default",
            exception_class_path=error,
            traceback="",
        )
    page = operator.get(PAGE).content.decode()
    assert page.count('data-task="remove"') == 2
    assert "Broken" in page
    assert "secret" not in page


def test_an_operator_pauses_and_stops(operator: Client):
    replay = begun()
    sent = {"kind": "replay", "of": replay.pk}
    for wanted, state in (("pause", "paused"), ("resume", "waiting"), ("stop", "stopped")):
        operator.post(CONTROL, {**sent, "wish": wanted})
        replay.refresh_from_db()
        assert replay.state == state
    assert (
        'data-message="info"'
        in operator.post(CONTROL, {**sent, "wish": "stop"}, follow=True).content.decode()
    )
    saved = make_saved(replay.copilot, answered=Side.DRAFT)
    SavedAnswer.objects.update(answered_at=timezone.now())
    queue([saved], [Side.DRAFT], user_id=None)
    operator.post(CONTROL, {"kind": "questions", "of": replay.copilot_id, "wish": "stop"})
    assert SavedAnswer.objects.get().state == AnswerState.DONE


def test_others_may_neither_look_nor_stop():
    replay = begun()
    for role in (Role.BUILDERS, Role.REVIEWERS):
        browser = Client()
        browser.force_login(make_user(role))
        assert browser.get(PAGE).status_code == 403
        sent = {"kind": "replay", "of": replay.pk, "wish": "stop"}
        assert browser.post(CONTROL, sent).status_code == 403
