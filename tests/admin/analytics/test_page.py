"""The analytics page, its tables and files."""

import csv
from datetime import timedelta
from io import StringIO
from typing import Any

from django.test import Client as Browser
from django.utils import timezone
import pytest

from copilot_admin.admin.analytics.formats import compare
from copilot_admin.admin.analytics.tables import TABLES
from copilot_admin.analytics import metrics
from copilot_admin.analytics.metrics import Metric
from copilot_admin.config.roles import Role, create_roles
from copilot_admin.copilots.end_users import AskingUser
from copilot_admin.models import (
    Conversation,
    Copilot,
    Criterion,
    EndUser,
    Membership,
    Outcome,
    Run,
    ToolUsage,
)
from copilot_admin.transcripts.feedback import SubmittedFeedback, store_turn_feedback
from copilot_admin.transcripts.verdicts import save_verdict
from tests.factories import make_user, make_version
from tests.transcripts.store.journaling import Client, ai, ending

pytestmark = pytest.mark.django_db

PAGE = "/admin/analytics/"
FORMULA = "=cmd|'/C calc'!A0"
XSS = "<script>alert(1)</script>"


@pytest.fixture
def reviewer(client: Browser) -> Browser:
    create_roles()
    client.force_login(make_user(Role.REVIEWERS))
    return client


def use(user: str = "ada", **copilot: Any) -> Copilot:
    """One conversation of today: a liked answer, and a failed one that is not."""
    now = timezone.now()
    midnight = now.replace(hour=0, minute=0, second=0)
    at = max(now - timedelta(seconds=20), midnight)
    asked = Client(
        version=make_version(**copilot), trace_id="chat", now=at, user=AskingUser(id=user)
    )
    first = asked.ask("Hi").answer("Hello")
    failed = ending(Outcome.FAILED, error_code="ProviderBusy", ttft_ms=None)
    last = asked.ask("Hi", ai("Hello"), "More?").answer("x", ended=failed)
    for one, vote in ((first, "thumbs_up"), (last, "thumbs_down")):
        turn = one.run.turn
        assert turn is not None
        store_turn_feedback(SubmittedFeedback.model_validate({"vote": vote}), turn=turn)
    label, _ = Criterion.objects.get_or_create(name="Wrong number")
    save_verdict(last.conversation, make_user(), rating="bad", marks={label.pk: 1})
    found: Copilot = asked.version.copilot
    ToolUsage.objects.create(day=at.date(), copilot=found, kind="widget", name="price", number=4)
    return found


def figures(response: Any) -> dict[str, str]:
    return {
        one["metric"].key: one["number"] + one["unit"] for one in response.context["key_figures"]
    }


def rows_of(browser: Browser, table: str, **given: str) -> list[list[str]]:
    response = browser.get(f"{PAGE}{table}/", {"format": "csv", **given})
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    return list(csv.reader(StringIO(response.content.decode("utf-8-sig"))))


def test_key_figures_charts_and_tables(reviewer: Browser) -> None:
    use()
    response = reviewer.get(PAGE, {"days": "7"})
    assert figures(response) == {
        "questions": "2",
        "users": "1",
        "satisfaction": "50%",
        "errors": "50%",
        "p50": "0.3\N{NO-BREAK SPACE}s",
        "cost": "–",  # a dash
    }
    charts = {card.key: chart for card, chart in response.context["charts"]}
    series = {key: [one.label for one in chart.series] for key, chart in charts.items()}
    assert series["errors"] == ["Provider busy"]
    assert not any(charts[key].is_empty for key in ("questions", "feedback", "latency", "reviews"))
    assert charts["cost"].is_empty
    page = response.content.decode()
    assert 'hx-trigger="revealed"' in page
    assert " style=" not in page


@pytest.mark.parametrize("days", ["1", "7", "90"])
@pytest.mark.parametrize("table", TABLES, ids=lambda card: card.key)
def test_tables_as_cards_and_files(reviewer: Browser, table: Any, days: str) -> None:
    use(name=FORMULA)
    page = reviewer.get(f"{PAGE}{table.key}/", {"days": days}).content.decode()
    heads, *rows = rows_of(reviewer, table.key, days=days)
    assert (bool(rows), f'data-table="{table.key}"' in page) == (table.key != "tools", True)
    assert all(len(row) == len(heads) for row in rows)
    first = {"copilots": f"'{FORMULA}", "users": "ada", "widgets": "price", "models": "small-1"}
    assert not rows or rows[0][0] == first.get(table.key, rows[0][0])


def test_charts_as_files(reviewer: Browser) -> None:
    use()
    today = f"{timezone.now():%Y-%m-%d}"
    assert rows_of(reviewer, "questions", days="7")[-1] == [today, "2", "1"]
    assert rows_of(reviewer, "errors", days="7")[0] == ["time", "Provider busy"]
    hours = rows_of(reviewer, "tokens", days="1")
    assert (len(hours), hours[1][0]) == (25, f"{today}T00:00Z")
    assert reviewer.get(f"{PAGE}nothing/").status_code == 404


@pytest.mark.parametrize(
    ("given", "questions", "users"),
    [
        ({}, "4", "2"),
        ({"copilot": "one"}, "2", "1"),
        ({"tag": "desk"}, "2", "1"),
        ({"copilot": "one", "version": "1"}, "2", "–"),  # a dash
        ({"model": "small-1"}, "4", "–"),
        ({"model": "other"}, "0", "–"),
        ({"user": "ada"}, "2", "1"),
        ({"user": "ada", "copilot": "other"}, "0", "0"),
        ({"user": "LOVE"}, "2", "1"),  # a part of the name
        ({"user": "nobody"}, "0", "0"),
        ({"copilot": "missing"}, "0", "0"),
        ({"copilot": "9" * 30}, "0", "0"),
    ],
)
def test_filters(reviewer: Browser, given: dict[str, str], questions: str, users: str) -> None:
    one = use("ada", name="One", tags=["desk"])
    use("bob", name="Other")
    EndUser.objects.filter(identifier="ada").update(name="Ada Lovelace")
    response = reviewer.get(PAGE, given)
    found = figures(response)
    assert (found["questions"], found["users"]) == (questions, users)
    is_unknown = {"nobody", "missing", "9" * 30} & set(given.values())
    assert bool(response.context["scope"].unknown) == bool(is_unknown)
    assert figures(reviewer.get(PAGE, {"copilot": one.pk}))["questions"] == "2"


def test_builders_see_the_copilots_they_are_members_of(client: Browser) -> None:
    create_roles()
    builder = make_user(Role.BUILDERS)
    client.force_login(builder)
    own, other = use("ada", name="Own", tags=["own"]), use("bob", name="Other", tags=["other"])
    Membership.objects.create(copilot=own, user=builder)
    page = client.get(PAGE)
    (card,) = [table for card, table in page.context["tables"] if card.key == "copilots"]
    assert (figures(page)["questions"], [row["name"] for row in card.rows]) == ("2", ["Own"])
    assert not [one for one in ("Other", "#other") if one in page.content.decode()]
    for given in ({"copilot": str(other.pk)}, {"tag": "other"}, {"user": "bob"}):
        assert figures(client.get(PAGE, given))["questions"] == "0"
    assert client.get(f"{PAGE}users/", {"format": "csv"}).content.count(b"ada") == 1
    assert b"bob" not in client.get(f"{PAGE}users/", {"format": "csv"}).content


def test_rows_lead_to_their_conversations(reviewer: Browser) -> None:
    copilot = use(name="One")
    tables = {card.key: table for card, table in reviewer.get(PAGE).context["tables"]}
    (row,) = tables["copilots"].rows
    errors = row["cells"][[one.key for one in metrics.TABLE_METRICS].index("errors")]
    assert errors["is_bad"]
    assert f"copilot={copilot.slug}" in errors["url"]
    assert "outcome=any-failed" in errors["url"]
    conversation = Conversation.objects.get()
    assert f"/conversation/{conversation.pk}/" in reviewer.get(errors["url"]).content.decode()


@pytest.mark.parametrize(
    ("given", "is_wrong"),
    [
        ({"since": "x\0"}, True),
        ({"days": "0"}, True),
        ({"until": "2026-02-30"}, True),
        ({"since": "2026-02-01", "until": "2026-02-03", "compare": "no"}, False),
        ({"days": "90", "by": "day"}, False),
        ({"version": "x" * 99, "model": "\0", "user": "\0"}, False),
    ],
)
def test_periods_and_odd_values(reviewer: Browser, given: dict[str, str], is_wrong: bool) -> None:
    use()
    response = reviewer.get(PAGE, given)
    assert response.status_code == 200
    assert response.context["scope"].period.is_wrong is is_wrong


def test_answers_under_way_are_shown_while_they_send_heartbeats(reviewer: Browser) -> None:
    assert b'id="running"' not in reviewer.get(PAGE).content
    now = timezone.now()
    asked = Client(version=make_version(name=XSS), now=now - timedelta(seconds=7)).ask("Hi")
    silent = Client(version=make_version(name="Silent"), now=now).ask("Hi")
    Client(version=make_version(name="Tried"), principal="playground:1", now=now).ask("Hi")
    Run.objects.filter(pk=silent.run_id).update(heartbeat_at=now - timedelta(minutes=2))
    Run.objects.filter(pk=asked.run_id).update(heartbeat_at=now)
    for url in (PAGE, f"{PAGE}running/"):
        response = reviewer.get(url)
        (run,) = response.context["running"]
        assert (run.pk, run.running_for.seconds >= 5) == (asked.run_id, True)
        assert XSS not in response.content.decode()


def test_permissions(client: Browser) -> None:
    create_roles()
    for role, status in ((Role.BUILDERS, 200), (Role.OPERATORS, 403), (Role.REVIEWERS, 200)):
        client.force_login(make_user(role))
        for url in (PAGE, f"{PAGE}running/", f"{PAGE}copilots/", f"{PAGE}tokens/?format=csv"):
            assert client.get(url).status_code == status
        menu = client.get("/admin/").content.decode()
        assert (f'href="{PAGE}"' in menu) is (status == 200)
    assert client.post(PAGE).status_code == 405


@pytest.mark.parametrize(
    ("metric", "now", "before", "found"),
    [
        (metrics.QUESTIONS, 112, 100, ("12%", "rise", "ca-good")),
        (metrics.QUESTIONS, 100, 100, None),
        (metrics.QUESTIONS, 5, 0, None),
        (metrics.SATISFACTION, 0.91, 0.93, ("2 pts", "fall", "ca-bad")),
        (metrics.SATISFACTION, 0.93, 0.92, ("1 pt", "rise", "ca-good")),
        (metrics.ERRORS, 0.014, 0.01, ("0.4 pts", "rise", "ca-bad")),
        (metrics.ERRORS, 0.01, 0, ("1 pt", "rise", "ca-bad")),
        (metrics.P50, 0.8, 0.9, ("0.1\N{NO-BREAK SPACE}s", "fall", "ca-good")),
        (metrics.COST, 2, 1, ("100%", "rise", "")),
        (metrics.COST, None, 1, None),
    ],
)
def test_deltas(
    metric: Metric, now: float, before: float, found: tuple[str, str, str] | None
) -> None:
    delta = compare(metric, now, before)
    assert (delta and (delta.text, delta.icon, delta.tone)) == found
