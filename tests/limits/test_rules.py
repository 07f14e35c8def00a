"""Rules that apply to a request, windows of budgets, and texts for rejected clients."""

from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

import pytest

from copilot_admin.config.variables import parse_networks
from copilot_admin.copilots.config_types import LIMITS, LimitsEntry
from copilot_admin.limits.admission import build_rejection
from copilot_admin.limits.rules import (
    KINDS,
    BudgetPeriod,
    LimitSubject,
    LimitWindow,
    RequestIdentity,
    get_window,
)
from copilot_admin.limits.usage import LIMIT_CACHE, reload_on_commit
from copilot_admin.models import LimitScope, SubjectLimits
from tests.factories import make_copilot
from tests.limits.limiting import ADDRESS, COPILOT, KEY, NOON, SERVER, USER, limited, make_rule

BERLIN, KOLKATA = ZoneInfo("Europe/Berlin"), ZoneInfo("Asia/Kolkata")
EVERY_KEY = LimitSubject(LimitScope.KEY)
EVERY_ADDRESS = LimitSubject(LimitScope.ADDRESS)
DEFAULTS = {"concurrent": 20, "requests_per_minute": 120}


def rules_for(**identity: object) -> list[tuple[str, str, int]]:
    found = LIMIT_CACHE.get_rules(RequestIdentity(**identity))
    return [(one.subject.name, one.kind.key, one.maximum) for one in found]


def test_each_kind_has_its_field_in_files_and_its_label_in_forms():
    assert set(KINDS) == set(LimitsEntry.model_fields) == set(LIMITS)


def test_the_narrowest_subject_comes_first():
    subjects = (ADDRESS, USER, KEY, COPILOT, SERVER)
    with limited({one: {"concurrent": n} for n, one in enumerate(subjects)}):
        assert rules_for(copilot_id=3, key_id=7, user="anna", address=ADDRESS.id) == [
            (one.name, "concurrent", n) for n, one in enumerate(subjects)
        ]
        assert rules_for(key_id=8, user="ben") == [("server:", "concurrent", 4)]


def test_limits_of_every_key_apply_where_a_key_has_none():
    with limited({EVERY_KEY: {"concurrent": 3, "tokens_per_day": 9}, KEY: {"concurrent": 5}}):
        assert rules_for(key_id=7) == [("key:7", "concurrent", 5), ("key:7", "tokens_per_day", 9)]
        assert rules_for(key_id=8) == [("key:8", "concurrent", 3), ("key:8", "tokens_per_day", 9)]


def test_a_trial_only_uses_budgets_and_feedback_only_requests():
    with limited({SERVER: dict.fromkeys(KINDS, 5)}):
        of_trial = {key for _, key, _ in rules_for(is_trial=True)}
        of_feedback = {key for _, key, _ in rules_for(is_answered=False)}
    assert of_trial == {key for key in KINDS if key.startswith(("tokens", "usd"))}
    assert of_feedback == {key for key in KINDS if key.startswith("requests")}


PUBLIC, PRIVATE = "8.8.8.8", ("10.1.2.3", "172.20.0.1", "192.168.1.1", "100.64.0.1", "127.0.0.1",
                              "169.254.1.1", "::1", "fe80::", "fd00::", "not an address")  # fmt: skip


@pytest.mark.parametrize(
    ("production", "proxies", "explicit", "addresses", "limits"),
    [
        (False, "127.0.0.1", (None, None), [PUBLIC, *PRIVATE], {}),
        (True, "127.0.0.1", (None, None), PRIVATE, {}),
        (True, "127.0.0.1", (None, None), [PUBLIC, "2606:4700::"], DEFAULTS),
        (True, "127.0.0.1,10.0.0.9", (None, None), [PUBLIC, *PRIVATE], DEFAULTS),
        (False, "127.0.0.1", (2, 3), [PUBLIC, *PRIVATE],
         {"concurrent": 2, "requests_per_minute": 3}),
        (True, "127.0.0.1", (None, 3), PRIVATE, {"requests_per_minute": 3}),
        (True, "127.0.0.1", (0, None), [PUBLIC], {"requests_per_minute": 120}),
    ],
    ids=["development", "private", "public", "trusted proxies", "explicit", "explicit private",
         "unlimited"],
)  # fmt: skip
def test_limits_of_anonymous_addresses(settings, production, proxies, explicit, addresses, limits):
    settings.PRODUCTION, settings.TRUSTED_PROXIES = production, parse_networks(proxies)
    settings.ANONYMOUS_CONCURRENT, settings.ANONYMOUS_PER_MINUTE = explicit
    for address in addresses:
        rules = {key: number for _, key, number in rules_for(address=address)}
        assert rules == limits, address
        for known in ({"key_id": 7}, {"user": "anna"}, {"is_trial": True}):
            assert rules_for(address=address, **known) == []


def test_limits_of_operators_replace_those_of_the_settings(settings):
    settings.ANONYMOUS_CONCURRENT = 20
    with limited({EVERY_ADDRESS: {"concurrent": 2}}):
        assert rules_for(address=PUBLIC) == [(ADDRESS.name, "concurrent", 2)]
    with limited({ADDRESS: {"concurrent": 1}}):
        assert rules_for(address=PUBLIC, key_id=7) == [(ADDRESS.name, "concurrent", 1)]


@pytest.mark.django_db
def test_the_cache_has_what_the_database_had_when_it_was_loaded(django_capture_on_commit_callbacks):
    copilot = make_copilot(limits={"concurrent": 2})
    SubjectLimits.objects.create(scope=LimitScope.KEY, subject="7", limits={"concurrent": 3})

    def load() -> list[int]:
        return [maximum for _, _, maximum in rules_for(copilot_id=copilot.pk, key_id=7)]

    assert load() == []
    with django_capture_on_commit_callbacks(execute=True):
        reload_on_commit()
    assert load() == [3, 2]
    SubjectLimits.objects.all().delete()
    assert load() == [3, 2]
    LIMIT_CACHE.load()
    assert load() == [2]


@pytest.mark.parametrize(
    ("subject", "limits", "wait", "sentence"),
    [
        (COPILOT, {"concurrent": 20}, None,
         "This copilot has reached its limit of 20 concurrent answers. "
         "Try again when one of them has ended."),
        (SERVER, {"concurrent": 1}, None,
         "This server has reached its limit of 1 concurrent answer. "
         "Try again when one of them has ended."),
        (ADDRESS, {"requests_per_minute": 1200}, 6.2,
         "This address has reached its limit of 1,200 requests per minute. Try again in 7 seconds."),
        (KEY, {"requests_per_day": 1}, 1,
         "This API key has reached its limit of 1 request per day. Try again in 1 second."),
        (USER, {"tokens_per_day": 5}, 3600,
         "This user has used up its token budget for today. "
         "Try again after 10 March 2026, 13:00 UTC."),
        (COPILOT, {"usd_per_month": 5}, 120,
         "This copilot has used up its money budget for this month. Try again in 120 seconds."),
    ],
)  # fmt: skip
def test_a_rejection_names_the_limit_and_when_to_try_again(subject, limits, wait, sentence):
    retry_at = None if wait is None else NOON + timedelta(seconds=wait)
    rule = make_rule(subject, **limits)
    assert build_rejection(rule, now=NOON, retry_at=retry_at, zone=UTC) == sentence


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[misc]


@pytest.mark.parametrize(
    ("period", "zone", "now", "begins", "ends"),
    [
        ("minute", UTC, utc(2026, 3, 1, 9, 5, 59), utc(2026, 3, 1, 9, 5), utc(2026, 3, 1, 9, 6)),
        ("day", UTC, utc(2026, 3, 1, 23, 59, 59), utc(2026, 3, 1), utc(2026, 3, 2)),
        ("day", BERLIN, utc(2026, 1, 5, 22, 59), utc(2026, 1, 4, 23), utc(2026, 1, 5, 23)),
        # The clocks change: days of 23 and 25 hours.
        ("day", BERLIN, utc(2026, 3, 29, 12), utc(2026, 3, 28, 23), utc(2026, 3, 29, 22)),
        ("day", BERLIN, utc(2026, 10, 25, 0, 30), utc(2026, 10, 24, 22), utc(2026, 10, 25, 23)),
        ("day", BERLIN, utc(2026, 10, 25, 1, 30), utc(2026, 10, 24, 22), utc(2026, 10, 25, 23)),
        ("day", KOLKATA, utc(2026, 1, 5), utc(2026, 1, 4, 18, 30), utc(2026, 1, 5, 18, 30)),
        ("month", UTC, utc(2026, 12, 31, 23, 59), utc(2026, 12, 1), utc(2027, 1, 1)),
        ("month", BERLIN, utc(2026, 3, 31, 22), utc(2026, 3, 31, 22), utc(2026, 4, 30, 22)),
        ("month", BERLIN, utc(2026, 3, 31, 21), utc(2026, 2, 28, 23), utc(2026, 3, 31, 22)),
    ],
)
def test_a_moment_lies_in_one_window(period, zone: tzinfo, now, begins, ends):
    window = get_window(BudgetPeriod(period), now, zone)
    assert window == LimitWindow(begins, ends)
    assert begins <= now < ends
    assert get_window(BudgetPeriod(period), ends, zone).begins == ends
