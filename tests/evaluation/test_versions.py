"""What a list of versions says: what changed in each, and what became of it."""

from datetime import date, timedelta

from django.utils import timezone
import pytest

from copilot_admin.copilots.publishing import publish
from copilot_admin.evaluation import versions
from copilot_admin.evaluation.versions import version_page
from copilot_admin.models import (
    Conversation,
    Copilot,
    CopilotVersion,
    DailyTotal,
    Feedback,
    FeedbackSource,
    Run,
    Turn,
)
from tests.factories import make_copilot, make_published

pytestmark = [pytest.mark.database, pytest.mark.django_db]
NOW = timezone.now()


def published(copilot: Copilot, **changes: object) -> CopilotVersion:
    for name, value in changes.items():
        setattr(copilot, name, value)
    copilot.save()
    version = publish(copilot, user=None)
    assert version is not None
    return version


def asked(*asked_versions: CopilotVersion, thumb: int = 0) -> None:
    """A conversation with a turn of as many requests as versions are given."""
    conversation = Conversation.objects.create(
        copilot=asked_versions[0].copilot, principal="anonymous", first_at=NOW, last_at=NOW
    )
    turn = Turn.objects.create(conversation=conversation, started_at=NOW)
    for version in asked_versions:
        Run.objects.create(
            copilot=version.copilot,
            copilot_version=version,
            conversation=conversation,
            turn=turn,
            started_at=NOW,
            heartbeat_at=NOW,
        )
    if thumb:
        Feedback.objects.create(turn=turn, source=FeedbackSource.END_USER, value=thumb)


def test_each_version_says_what_changed_since_the_one_before():
    copilot = make_published()
    published(copilot, description="New", system_prompt="Be brief.")
    published(copilot, model="other")
    rows = version_page(copilot)["rows"]
    keys = ("is_live", "is_first", "changed")
    assert [(row["version"].number, *(row[key] for key in keys)) for row in rows] == [
        (3, True, False, "Model"),
        (2, False, False, "Description, Instructions"),
        (1, False, True, ""),
    ]


def test_conversations_thumbs_and_errors_are_counted_for_each_version():
    copilot = make_published()
    first = copilot.live
    second = published(copilot, description="New")
    asked(first, first, thumb=1)
    for _ in range(2):
        asked(first, second, thumb=-1)
    Feedback.objects.create(turn=Turn.objects.first(), source=FeedbackSource.REVIEWER, value=-1)
    for day in range(2):
        DailyTotal.objects.create(
            day=date(2026, 1, 1) + timedelta(days=day), copilot=copilot, version=1, errors=3
        )
    DailyTotal.objects.create(day=date(2026, 1, 1), copilot=make_copilot(), version=1, errors=7)
    newest, oldest = version_page(copilot)["rows"]
    assert newest["figures"] == {"conversations": 2, "up": 0, "down": 2, "errors": 0}
    assert oldest["figures"] == {"conversations": 3, "up": 1, "down": 2, "errors": 6}


def test_pages_follow_each_other_with_as_many_queries_each(django_assert_num_queries, monkeypatch):
    copilot = make_published()
    for number in range(2, 5):
        published(copilot, description=str(number))
    with django_assert_num_queries(4):
        version_page(copilot)
    monkeypatch.setattr(versions, "PAGE", 2)
    pages, below = [], None
    while not pages or below is not None:
        with django_assert_num_queries(4):
            page = version_page(copilot, below=below)
        pages.append([row["version"].number for row in page["rows"]])
        below = page["older"]
    assert pages == [[4, 3], [2, 1]]
