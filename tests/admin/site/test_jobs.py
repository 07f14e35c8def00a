"""Background jobs: one page, with a button to cancel a test run."""

from django.test import Client
from django.utils import timezone
from django_tasks.base import TaskResultStatus
from django_tasks_db.models import DBTaskResult
import pytest

from copilot_admin.admin.site.jobs import JobKind, find_jobs
from copilot_admin.jobs.deletion import mark_for_deletion
from copilot_admin.jobs.removal import begin_erasure
from copilot_admin.models import AlertDelivery, PendingImport, RunState
from copilot_admin.privacy.scopes import PrivacyScope
from tests.evaluation.evaluations import queue_run
from tests.factories import make_case, make_copilot, make_user

pytestmark = pytest.mark.django_db
PAGE = "/admin/jobs/"
CANCEL = f"{PAGE}cancel/"


def test_everything_that_runs_is_named_with_its_progress(operator: Client):
    make_case(copilot := make_copilot(name="Analyst <b>"))
    queue_run(copilot)
    mark_for_deletion([make_copilot(name="Old").pk])
    PendingImport.objects.create(user=make_user(username="ada"), files=[])
    AlertDelivery.objects.create(event="test", subject="Test")
    begin_erasure(PrivacyScope(principal="key:7"))
    found = {job["kind"]: job for job in find_jobs()}
    assert set(found) == set(JobKind)
    for kind, total in ((JobKind.REMOVAL, 0), (JobKind.EVALUATION, 1)):
        assert (found[kind]["done"], found[kind]["total"]) == (0, total)
    page = operator.get(PAGE).content.decode()
    assert "Analyst &lt;b&gt;" in page
    assert ("Old" in page, "ada" in page) == (True, True)
    assert f"/{copilot.pk}/tests/" not in page  # an operator may not see copilots
    assert "key:7" not in page
    part = operator.get(PAGE, headers={"HX-Request": "true"}).content.decode()
    assert 'data-unfinished="4"' in part
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


def test_an_operator_cancels_a_test_run(operator: Client):
    make_case(copilot := make_copilot())
    run = queue_run(copilot)
    sent = {"kind": "evaluation", "of": run.pk}
    for _ in range(2):  # the second comes too late
        assert operator.post(CANCEL, sent).status_code == 302
        run.refresh_from_db()
        assert run.state == RunState.CANCELLED
    assert operator.post(CANCEL, sent | {"kind": "import"}).status_code == 404
