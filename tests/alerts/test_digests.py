"""The digest of a week: from the rollups, once a week, beside the week before."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
import json

import pytest

from copilot_admin.alerts.digests import create_digest, create_due_digests, next_due
from copilot_admin.models import AlertDelivery, AlertDigest, DailyTotal
from tests.alerts.alerting import HOUR, NOON, make_webhook
from tests.factories import make_published

pytestmark = pytest.mark.django_db
WEEK = timedelta(days=7)
MONDAY = datetime(2026, 11, 23, 7, tzinfo=UTC)


def make_digest(**changes) -> AlertDigest:
    fields = {"name": "Desk", "mails": "desk@example.com", "due_at": MONDAY, **changes}
    return AlertDigest.objects.create(**fields)


@pytest.mark.parametrize(
    ("weekday", "hour", "after", "expected"),
    [
        (0, 7, NOON, MONDAY),
        (0, 7, MONDAY - HOUR, MONDAY),
        (0, 7, MONDAY, MONDAY + WEEK),
        (4, 12, NOON, NOON.replace(minute=0) + WEEK),
        (4, 13, NOON, NOON.replace(minute=0, hour=13)),
        (6, 0, NOON, datetime(2026, 11, 22, tzinfo=UTC)),
    ],
)
def test_the_next_moment(weekday, hour, after, expected):
    assert next_due(AlertDigest(weekday=weekday, hour=hour), after) == expected


def test_a_digest_compares_with_the_week_before(settings, django_assert_num_queries):
    settings.PUBLIC_URL = "https://copilots.example.com"
    webhook, _ = make_webhook()
    copilot = make_published(tags=["desk"])
    counts = {"conversations": 1200, "questions": 3, "runs": 4, "completed": 3, "failed": 1}
    last = MONDAY.date() - timedelta(days=1)
    for day in (last, last - timedelta(days=6)):
        DailyTotal.objects.create(copilot=copilot, day=day, **counts, down=1, cost=Decimal("1.25"))
    before = last - timedelta(days=7)
    DailyTotal.objects.create(copilot=copilot, day=before, conversations=5, unpriced=2)
    for day in (MONDAY.date(), last - timedelta(days=14)):
        DailyTotal.objects.create(copilot=copilot, day=day, conversations=1000)
    DailyTotal.objects.create(copilot=make_published(), day=last, conversations=1000)
    digest = make_digest(tag="desk", webhook=webhook)
    by_mail, by_post = create_digest(digest, MONDAY)
    assert by_mail.subject == "[Copilot Admin] Desk: the week 2026-11-16 – 2026-11-22"
    assert by_mail.body == (
        "2026-11-16 – 2026-11-22, copilots tagged desk, compared with the week before:\n\n"
        "Conversations: 2,400 (before: 5)\n"
        "Questions: 6 (before: 0)\n"
        "Completed: 6 (before: 0)\n"
        "Failed: 2 (before: 0)\n"
        "Thumbs up: 0 (before: 0)\n"
        "Thumbs down: 2 (before: 0)\n"
        "Requests of unknown cost: 0 (before: 2)\n"
        "Cost: $2.50 (before: unknown)\n\n"
        "Analytics: https://copilots.example.com/admin/analytics/"
        "?tag=desk&since=2026-11-16&until=2026-11-22\n\n"
        "-- \nCopilot Admin sent this because of an alert rule or digest.\n"
    )
    payload = json.loads(by_post.body)
    assert payload["type"] == "digest.weekly"
    data = payload["data"]
    assert (data["since"], data["until"]) == ("2026-11-16", "2026-11-22")
    assert (data["counts"]["conversations"], data["counts"]["cost"]) == (2400, 2.5)
    assert (data["counts_before"]["unpriced"], data["counts_before"]["cost"]) == (2, None)
    assert by_post.digest == digest


def test_it_is_sent_once_a_week_by_one_process():
    make_digest()
    for at in (MONDAY - HOUR, MONDAY, MONDAY, MONDAY + HOUR, MONDAY + WEEK):
        create_due_digests(at)
    assert AlertDelivery.objects.count() == 2
    assert AlertDigest.objects.get().due_at == MONDAY + 2 * WEEK
