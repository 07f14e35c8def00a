"""A server looks at rules and tells by itself, again and again."""

from collections.abc import Iterator

from django.core import mail
from django.utils import timezone
import pytest

from copilot_admin.models import AlertDelivery
from copilot_admin.server import rounds
from tests.alerts.alerting import dislike, make_rule
from tests.factories import make_published
from tests.live_server import LiveServer
from tests.waiting import eventually

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def _quick() -> Iterator[None]:
    """Rounds begin at once."""
    patch = pytest.MonkeyPatch()
    patch.setattr(rounds, "HEARTBEAT_SECONDS", 0.05)
    yield
    patch.undo()


@pytest.fixture(scope="module")
def quick_service(_quick: None, service: LiveServer) -> LiveServer:
    """A server whose rounds begin at once: it starts after the change."""
    return service


def test_what_is_wrong_is_told_once(quick_service: LiveServer, service_url: str) -> None:
    dislike(make_published(), at=timezone.now())
    make_rule(due_at=timezone.now())  # last: what is looked at before it is bad waits for a minute
    sent = AlertDelivery.objects.filter(state="sent")
    assert eventually(sent.exists)
    assert len(mail.outbox) == 1
