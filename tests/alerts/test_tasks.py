"""From a thumb down to the mailbox and the receiver, through housekeeping and the background."""

from datetime import datetime
from decimal import Decimal

from asgiref.sync import async_to_sync, sync_to_async
from django.core import mail
from django.core.management import call_command
from django.utils import timezone
from django_tasks_db.models import DBTaskResult
import pytest

from copilot_admin.alerts import checking
from copilot_admin.alerts.checking import check_due, found
from copilot_admin.alerts.settling import RuleFinding
from copilot_admin.alerts.tasks import attempt, send_due
from copilot_admin.errors import ConfigurationError
from copilot_admin.jobs.background import BACKGROUND
from copilot_admin.models import Alert, AlertDelivery, AlertDigest, AlertRule
from copilot_admin.server.duties import look_at_rules, tell
from copilot_admin.storage.writer import WRITER
from tests.agent.providers.upstream import Request, serving
from tests.alerts.alerting import dislike, make_rule, make_webhook
from tests.alerts.receivers import answering
from tests.factories import make_published
from tests.waiting import HANGS_SECONDS

IN_DATABASE = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}}
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _loopback_is_allowed(settings):
    settings.FETCH_ALLOW = ("127.0.0.1",)


def something_is_wrong(**changes) -> AlertRule:
    rule = make_rule(due_at=timezone.now(), threshold=Decimal(1), **changes)
    dislike(make_published(), at=timezone.now())
    return rule


def states() -> list[str]:
    return sorted(AlertDelivery.objects.values_list("state", flat=True))


def told_by(url: str) -> None:
    something_is_wrong(webhook=make_webhook(f"{url}/hook")[0])


@pytest.mark.database
def test_what_is_wrong_reaches_mailbox_and_receiver():
    async def run() -> list[Request]:
        async with serving(answering()) as server:
            await sync_to_async(told_by)(server.url)
            await look_at_rules()
            await tell()
            await sync_to_async(BACKGROUND.wait_until_idle)(timeout=HANGS_SECONDS)
            return server.requests

    (request,) = async_to_sync(run)()
    assert request.json["type"] == "alert.opened"
    assert [one.subject for one in mail.outbox] == ["[Copilot Admin] Thumbs: 1 thumb down"]
    assert states() == ["sent", "sent"]
    assert Alert.objects.count() == 1


@pytest.mark.database
def test_rules_are_looked_at_and_digests_sent_by_any_process():
    something_is_wrong()
    AlertDigest.objects.create(name="Desk", mails="desk@example.com", due_at=timezone.now())
    check_due()
    check_due()
    events = AlertDelivery.objects.order_by("event").values_list("event", flat=True)
    assert list(events) == ["digest", "opened"]


@pytest.mark.database
def test_an_address_that_is_none_keeps_nobody_else_from_being_told():
    rule = something_is_wrong(mails="äöü@example.com\nops@example.com\n" + "x" * 300)
    make_rule(name="Later", due_at=timezone.now(), threshold=Decimal(1))
    check_due()
    told = AlertDelivery.objects.order_by("made_at", "to").values_list("state", "to", "answer")
    assert [(state, to[:20], said) for state, to, said in told.filter(alert__rule=rule)] == [
        ("waiting", "ops@example.com", ""),
        ("failed", "x" * 20, f"“{'x' * 79}…” is no mail address."),
        ("failed", "äöü@example.com", "“äöü@example.com” is no mail address."),
    ]
    assert Alert.objects.count() == 2


@pytest.mark.database
def test_a_rule_that_breaks_keeps_no_other_from_being_looked_at(monkeypatch):
    broken = something_is_wrong(name="Broken")
    make_rule(name="Whole", due_at=timezone.now(), threshold=Decimal(1))

    def breaks(rule: AlertRule, at: datetime) -> RuleFinding | None:
        if rule.pk == broken.pk:
            raise ConfigurationError("It cannot be measured.")
        return found(rule, at)

    monkeypatch.setattr(checking, "found", breaks)
    with pytest.raises(ConfigurationError):
        check_due()
    check_due()  # seconds later
    assert [alert.rule.name for alert in Alert.objects.all()] == ["Whole"]


def test_a_worker_sends_what_waits_in_the_database(settings):
    settings.TASKS, settings.BACKGROUND = IN_DATABASE, "database"
    something_is_wrong()
    check_due()
    for _ in range(2):
        WRITER.submit(send_due).result(HANGS_SECONDS)
    assert DBTaskResult.objects.ready().count() == 1
    call_command("worker", batch=True, interval=0, startup_delay=False, verbosity=0)
    assert states() == ["sent"]
    assert len(mail.outbox) == 1


def test_a_message_that_somebody_else_has_is_left():
    something_is_wrong()
    check_due()
    async_to_sync(attempt)(AlertDelivery.objects.get().pk, 99)
    assert (mail.outbox, states()) == ([], ["waiting"])
