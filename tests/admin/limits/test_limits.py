"""Operators set limits and see what was used; nobody else does."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from asgiref.sync import async_to_sync
from django.test import Client
from django.utils import timezone
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.config.variables import parse_networks
from copilot_admin.limits.rules import LimitSubject, RequestIdentity
from copilot_admin.limits.usage import LIMIT_CACHE
from copilot_admin.models import (
    Conversation,
    Copilot,
    EndUser,
    LimitRejection,
    LimitScope,
    SubjectLimits,
)
from tests.factories import make_copilot, make_key, make_user
from tests.limits.limiting import ask, limited
from tests.limits.test_usage import count_run

pytestmark = pytest.mark.django_db

PAGE, ONE = "/admin/limits/", "/admin/limits/one/"
HOSTILE = "<script>alert(1)</script>"


def rows(client: Client) -> dict[str, list[tuple[str, str, int | None]]]:
    found = client.get(PAGE).context["rows"]
    return {
        row["name"]: [(one["label"], one["text"], one.get("percent")) for one in row["meters"]]
        for row in found
    }


def save(client: Client, whom: str, **limits: Any) -> Any:
    return client.post(f"{ONE}?whom={whom}", limits)


def test_limits_are_set_for_the_server_and_taken_away_again(
    operator, django_capture_on_commit_callbacks
):
    with django_capture_on_commit_callbacks(execute=True):
        answer = save(operator, "server:", requests_per_day="5", usd_per_month="0.5")
    assert (answer.status_code, answer["Location"]) == (302, PAGE)
    stored = SubjectLimits.objects.get()
    assert (stored.scope, stored.subject, stored.limits) == (
        "server",
        "",
        {"requests_per_day": 5, "usd_per_month": 0.5},
    )
    rules = LIMIT_CACHE.get_rules(RequestIdentity())
    assert {rule.kind.key for rule in rules} == set(stored.limits)
    assert rows(operator)["Whole server"] == [
        ("Requests per day", "0 of 5", 0),
        ("Cost (US dollars) per month", "$0.00 of $0.500000", 0),
    ]
    save(operator, "server:")
    assert rows(operator)["Whole server"] == []


@pytest.mark.parametrize("is_demo", [False, True])
def test_a_limit_of_users_warns_while_nobody_is_identified(operator, is_demo):
    whom, now = f"{ONE}?whom=user:", timezone.now()
    assert b'data-problem="no-users"' in operator.get(whom).content
    copilot = make_copilot()
    Copilot.objects.update(is_demo=is_demo)
    user = EndUser.objects.create(identifier="ada", first_at=now, last_at=now)
    Conversation.objects.create(copilot=copilot, user=user, first_at=now, last_at=now)
    assert (b'data-problem="no-users"' in operator.get(whom).content) is is_demo


def test_limits_of_a_copilot_are_those_of_its_file(operator):
    copilot = make_copilot(name=HOSTILE, limits={"concurrent": 2})
    assert rows(operator)[HOSTILE] == [("Concurrent answers", "0 of 2", 0)]
    assert HOSTILE not in operator.get(PAGE).content.decode()
    save(operator, f"copilot:{copilot.pk}", tokens_per_day="7")
    assert Copilot.objects.get().limits == {"tokens_per_day": 7}
    assert not SubjectLimits.objects.exists()


@pytest.mark.database
@pytest.mark.parametrize("whom", ["user:anna@example.com", "user:", "address:::1", "key:"])
def test_limits_of_anybody_are_kept_under_his_name(operator, whom):
    assert operator.get(ONE, {"whom": whom}).status_code == 200
    assert save(operator, whom, concurrent="3").status_code == 302
    scope, _, id = whom.partition(":")
    stored = SubjectLimits.objects.get()
    assert (stored.scope, stored.subject) == (scope, "::" if id == "::1" else id)


@pytest.mark.parametrize(
    ("field", "value"),
    [("concurrent", "0"), ("concurrent", "x"), ("requests_per_day", "1.5"),
     ("tokens_per_day", str(10**13)), ("usd_per_month", "0"), ("usd_per_month", "nan"),
     ("usd_per_month", "1000001")],
)  # fmt: skip
def test_what_is_no_limit_is_an_error_at_its_field(operator, field, value):
    answer = save(operator, "server:", **{field: value})
    assert answer.status_code == 200
    assert list(answer.context["form"].errors) == [field]
    assert not SubjectLimits.objects.exists()


def test_strangers_limits_of_the_settings_are_shown_until_others_are_set(operator, settings):
    settings.ANONYMOUS_CONCURRENT = 20
    every = "Default per IP address (anonymous callers)"
    assert rows(operator)[every] == [("Concurrent answers", "20 each", None)]
    save(operator, "address:", requests_per_day="9")
    assert rows(operator)[every][1:] == [("Requests per day", "9 each", None)]


@pytest.mark.database
def test_bars_say_what_is_used_and_what_cannot_be_counted(operator):
    copilot = make_copilot(limits={"concurrent": 5, "requests_per_minute": 4, "usd_per_day": 2.0})
    subject = LimitSubject(LimitScope.COPILOT, str(copilot.pk))
    now = datetime.now(UTC)
    count_run(copilot, now, cost=Decimal(2))
    count_run(copilot, now, cost=None, times=3)
    with limited({subject: {"concurrent": 5, "requests_per_minute": 4}}):
        for id in "abcd":
            async_to_sync(ask)(id, copilot_id=copilot.pk)
        page = operator.get(PAGE)
    [row] = [one for one in page.context["rows"] if one["name"] == copilot.name]
    assert [(one["text"], one["percent"], one["tone"]) for one in row["meters"]] == [
        ("4 of 5", 80, "warn"),
        ("4 of 4", 100, "bad"),
        ("$2.00 of $2.00", 100, "bad"),
    ]
    assert [bool(one["note"]) for one in row["meters"]] == [False, False, True]
    text = page.content.decode()
    assert "ca-s-warn" in text
    assert "ca-s-bad" in text


@pytest.mark.parametrize("role", [Role.BUILDERS, Role.REVIEWERS])
def test_nobody_else_sees_or_sets_limits(client, role):
    client.force_login(make_user(role))
    assert client.get(PAGE).status_code == 403
    assert save(client, "server:", concurrent="1").status_code == 403
    assert not SubjectLimits.objects.exists()


def reject(scope: str, subject: str, number: int = 1, *, kind: str = "concurrent", days: int = 0):
    at = datetime.now(UTC) - timedelta(days=days)
    LimitRejection.objects.create(
        scope=scope, subject=subject, kind=kind, number=number, minute=at, last_at=at
    )


def test_recent_rejections_are_listed_by_subject_and_limit(operator):
    assert "data-empty" in operator.get(PAGE).content.decode()
    key = make_key("Desk")[0]
    reject("key", str(key.pk), 3)
    reject("key", str(key.pk), 4)
    reject("user", HOSTILE, kind="tokens_per_day")
    reject("server", "", days=8)
    reject("copilot", "99", days=1)
    page = operator.get(PAGE)
    found = [
        (row["subject"].scope, row["name"], row["limit"], row["number"])
        for row in page.context["rejections"]
    ]
    assert found == [
        ("user", HOSTILE, "Tokens per day", 1),
        ("key", str(key), "Concurrent answers", 7),
        ("copilot", "Unknown", "Concurrent answers", 1),
    ]
    assert "data-empty" not in page.content.decode()
    assert HOSTILE not in page.content.decode()


@pytest.mark.parametrize(
    ("scope", "subject", "proxies", "is_advised"),
    [
        ("address", "10.0.0.9", "127.0.0.1", True),
        ("address", "10.0.0.9", "127.0.0.1,10.0.0.9", False),
        ("address", "8.8.8.8", "127.0.0.1", False),
        ("address", "", "127.0.0.1", False),
        ("user", "10.0.0.9", "127.0.0.1", False),
    ],
)
def test_rejections_of_a_private_address_come_with_advice(
    operator, settings, scope, subject, proxies, is_advised
):
    settings.TRUSTED_PROXIES = parse_networks(proxies)
    reject(scope, subject)
    assert ('data-problem="proxy"' in operator.get(PAGE).content.decode()) is is_advised
