"""What a list of versions says: what changed in each, and what became of it."""

from datetime import date

import pytest

from copilot_admin.copilots.publishing import publish
from copilot_admin.evaluation import versions
from copilot_admin.evaluation.versions import version_page
from copilot_admin.models import Copilot, CopilotVersion, DailyTotal
from tests.factories import make_copilot, make_published

pytestmark = [pytest.mark.database, pytest.mark.django_db]


def published(copilot: Copilot, **changes: object) -> CopilotVersion:
    for name, value in changes.items():
        setattr(copilot, name, value)
    copilot.save()
    version = publish(copilot, user=None)
    assert version is not None
    return version


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
    published(copilot, description="New")
    for other, day, version, counts in (
        (copilot, 1, 1, {"conversations": 3, "up": 1, "errors": 3}),
        (copilot, 2, 1, {"down": 2, "errors": 3}),
        (copilot, 2, 2, {"conversations": 2, "down": 2}),
        (make_copilot(), 1, 1, {"conversations": 7, "errors": 7}),
    ):
        at = date(2026, 1, day)
        DailyTotal.objects.create(day=at, copilot=other, version=version, **counts)
    newest, oldest = version_page(copilot)["rows"]
    assert newest["figures"] == {"conversations": 2, "up": 0, "down": 2, "errors": 0}
    assert oldest["figures"] == {"conversations": 3, "up": 1, "down": 2, "errors": 6}


def test_pages_follow_each_other_with_as_many_queries_each(django_assert_num_queries, monkeypatch):
    copilot = make_published()
    for number in range(2, 5):
        published(copilot, description=str(number))
    with django_assert_num_queries(2):
        version_page(copilot)
    monkeypatch.setattr(versions, "PAGE", 2)
    pages, below = [], None
    while not pages or below is not None:
        with django_assert_num_queries(2):
            page = version_page(copilot, below=below)
        pages.append([row["version"].number for row in page["rows"]])
        below = page["older"]
    assert pages == [[4, 3], [2, 1]]
