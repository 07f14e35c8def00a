"""The page of figures, its links and its files."""

import csv
from datetime import timedelta
from io import StringIO
import re
from typing import Any

from django.test import Client as Browser
from django.utils import timezone
import pytest

from copilot_admin.admin.analytics.sections import MOST_SHOWN
from copilot_admin.config.roles import Role, create_roles
from copilot_admin.models import (
    Conversation,
    Criterion,
    DailyTotal,
    DailyUsage,
    Outcome,
    Run,
)
from copilot_admin.transcripts.feedback import GivenFeedback, store_turn_feedback
from copilot_admin.transcripts.verdicts import GivenVerdict, save_verdict
from tests.factories import make_copilot, make_user, make_version
from tests.transcripts.store.journaling import Client, ai, ending

pytestmark = pytest.mark.django_db

PAGE = "/admin/figures/"
FORMULA = "=cmd|'/C calc'!A0"
XSS = "<script>alert(1)</script>"


@pytest.fixture
def reviewer(client: Browser) -> Browser:
    create_roles()
    client.force_login(make_user(Role.REVIEWERS))
    return client


def a_week(**copilot: Any) -> Client:
    """One conversation of today: an answer that is liked, and one that fails and is not."""
    now = timezone.now()
    midnight = now.replace(hour=0, minute=0, second=0)
    at = max(now - timedelta(seconds=20), midnight)
    asked = Client(version=make_version(**copilot), trace_id="chat", now=at)
    first = asked.ask("Hi").answer("Hello")
    failed = ending(Outcome.FAILED, error_code="no-model", ttft_ms=None)
    last = asked.ask("Hi", ai("Hello"), "More?").answer("x", ended=failed)
    for one, vote in ((first, "thumbs_up"), (last, "thumbs_down")):
        turn = one.run.turn
        assert turn is not None
        store_turn_feedback(GivenFeedback.model_validate({"vote": vote}), turn=turn)
    label, _ = Criterion.objects.get_or_create(name="Wrong number")
    judged = GivenVerdict(rating="bad", comment="", marks={label.pk: 1})
    save_verdict(last.conversation, make_user(), judged)
    return asked


def tiles(response: Any) -> dict[str, str]:
    sections = response.context["sections"]
    return {tile.label: tile.cell.text for section in sections for tile in section.tiles}


def rows_of(browser: Browser, table: str, **given: str) -> list[list[str]]:
    response = browser.get(PAGE, {"format": "csv", "table": table, **given})
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert re.fullmatch(
        rf'attachment; filename="figures-{table}-[-0-9]+\.csv"', response["Content-Disposition"]
    )
    text = response.content.decode("utf-8-sig")
    return list(csv.reader(StringIO(text)))


def test_the_page_says_what_was_asked_and_how_it_went(reviewer: Browser) -> None:
    a_week()
    assert tiles(reviewer.get(PAGE)) == {
        "Conversations": "1",
        "Questions": "2",
        "People": "1",
        "Requests that failed": "50.0\N{NO-BREAK SPACE}%",
        "First token, p50": "281 ms",
        "First token, p95": "281 ms",
        "Completed": "1",
        "Failed": "1",
        "Thumbs that are up": "50.0\N{NO-BREAK SPACE}%",
        "Thumbs up": "1",
        "Thumbs down": "1",
        "Verdicts: good": "0",
        "Verdicts: mixed": "0",
        "Verdicts: bad": "1",
        "Known cost": "unknown",
        "Requests of unknown cost": "2",
        "Known cost of a question": "unknown",
        "Tokens": "30",
    }


def test_each_table_is_a_file_whose_cells_are_no_formulas(reviewer: Browser) -> None:
    a_week(name=FORMULA)
    Run.objects.update(model="m")
    today = f"{timezone.now():%Y-%m-%d}"
    heads, *rows = rows_of(reviewer, "versions")
    assert (heads[:4], rows[0][:5]) == (
        ["Copilot", "Version", "Questions", "Requests"],
        [f"'{FORMULA}", "v1", "2", "2", "1"],
    )
    assert rows_of(reviewer, "use", days="7")[-1] == [today, "2", "1", "1"]
    assert rows_of(reviewer, "errors") == [
        ["Kind of error", "Requests", "Before"],
        ["no-model", "1", "0"],
    ]
    assert rows_of(reviewer, "labels")[1] == ["Wrong number", "1", "", "0"]
    assert rows_of(reviewer, "cost")[-1] == [today, "", "2", "30"]
    hours = rows_of(reviewer, "outcomes", days="1")
    assert (len(hours), hours[0][0], hours[1][0]) == (25, "Hour (UTC)", f"{today}T00:00Z")


def test_of_many_models_the_page_shows_those_that_were_asked_most_and_the_file_all(
    reviewer: Browser,
) -> None:
    copilot, today = make_copilot(), timezone.now().date()
    for place in range(MOST_SHOWN + 3):
        DailyUsage.objects.create(
            day=today, copilot=copilot, model=f"m-{place:02}", runs=100 - place
        )
    DailyTotal.objects.create(day=today, copilot=copilot, runs=9)
    page = reviewer.get(PAGE).content.decode()
    assert "The 50 that were asked most; the file has 53." in page
    assert ("m-49" in page, "m-50" in page) == (True, False)
    file = reviewer.get(PAGE, {"table": "models", "format": "csv"}).content.decode()
    assert [row[0] for row in csv.reader(StringIO(file))][1:] == [f"m-{n:02}" for n in range(53)]


def test_a_long_period_goes_by_weeks_and_by_days_for_who_asks(reviewer: Browser) -> None:
    a_week()
    page = reviewer.get(PAGE, {"days": "90"}).content.decode()
    assert "Week from (UTC)" in page
    assert '<a href="?days=90&amp;by=week" aria-current="true">By week</a>' in page
    by_day = reviewer.get(PAGE, {"days": "90", "by": "day"}).content.decode()
    assert "Day (UTC)" in by_day
    assert "&amp;by=day&amp;table=use&amp;format=csv" in by_day
    assert "By week" not in reviewer.get(PAGE, {"days": "7"}).content.decode()


def test_a_copilot_is_chosen_by_its_name_and_another_one_beside_it(reviewer: Browser) -> None:
    one, other = a_week(name="One"), a_week(name="Other")
    a_week(name="Third")
    response = reviewer.get(PAGE, {"copilot": ["one", other.version.copilot.slug]})
    assert tiles(response)["Questions"] == "4"
    assert [name for _slug, name, _url in response.context["chosen"]] == ["One", "Other"]
    assert response.context["chosen"][0][2] == f"?copilot={other.version.copilot.slug}&days=7"
    link = next(
        tile.cell.url for tile in response.context["sections"][0].tiles if tile.label == "Questions"
    )
    assert reviewer.get(link).context["cl"].result_count == 2
    assert one.version.copilot.slug in link


@pytest.mark.parametrize(
    "given", [{"since": "x\0"}, {"days": "0"}, {"since": "9" * 500}, {"until": "2026-02-30"}]
)
def test_a_period_that_is_none_is_said(reviewer: Browser, given: dict[str, str]) -> None:
    assert "These are no dates" in reviewer.get(PAGE, given).content.decode()


def test_where_nobody_asked_it_is_said(reviewer: Browser) -> None:
    assert "Nobody asked anything in this period" in reviewer.get(PAGE).content.decode()


def test_what_runs_now_is_shown_and_what_is_silent_is_not(reviewer: Browser) -> None:
    now = timezone.now()
    asked = Client(version=make_version(name=XSS), now=now - timedelta(seconds=7)).ask("Hi")
    silent = Client(version=make_version(name="Silent"), now=now).ask("Hi")
    Client(version=make_version(name="Tried"), principal="playground:1", now=now).ask("Hi")
    Run.objects.filter(pk=silent.run_id).update(heartbeat_at=now - timedelta(minutes=2))
    Run.objects.filter(pk=asked.run_id).update(heartbeat_at=now)
    for address in (PAGE, f"{PAGE}running/"):
        response = reviewer.get(address)
        (one,) = response.context["running"].runs
        assert (one.copilot, one.model) == (XSS, "small-1")
        assert 5 <= one.seconds < 600
        assert f"conversation/{asked.accepted.conversation_id}/change/" in one.url
        assert XSS not in response.content.decode()


def test_only_who_may_see_conversations_sees_figures(client: Browser) -> None:
    create_roles()
    for role, status in ((Role.BUILDERS, 403), (Role.OPERATORS, 403), (Role.REVIEWERS, 200)):
        client.force_login(make_user(role))
        assert client.get(PAGE).status_code == status
        assert client.get(f"{PAGE}running/").status_code == status
        rail = client.get("/admin/").content.decode()
        assert ('href="/admin/figures/"' in rail) is (status == 200)
    assert client.post(PAGE).status_code == 405
    assert Conversation.objects.count() == 0
