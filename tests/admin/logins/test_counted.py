"""How often something may be asked for, with a Redis that comes and goes."""

from collections.abc import Iterator
from typing import Any

from django.core.cache import cache
from django.test import override_settings
import pytest

from copilot_admin.admin.logins import counted
from copilot_admin.admin.logins.counted import within

AWAY = "redis://127.0.0.1:1/0"  # nobody listens there
OVER_REDIS = {
    "BACKEND": "django_redis.cache.RedisCache",
    "LOCATION": AWAY,
    "OPTIONS": {"IGNORE_EXCEPTIONS": True},
}
HOUR = 3600


@pytest.fixture
def over_redis(settings: Any) -> Iterator[None]:
    settings.REDIS_URL = AWAY
    cache.clear()
    counted.forget()
    yield
    counted.forget()


@pytest.fixture
def away(over_redis: None) -> Iterator[None]:
    with override_settings(CACHES={"default": OVER_REDIS}):
        yield


def asked(what: str, *, times: int) -> list[bool]:
    return [within(what, 3, seconds=HOUR) for _ in range(times)]


def test_while_redis_is_away_each_worker_counts_alone(away):
    assert asked("one", times=5) == [True, True, True, False, False]
    assert asked("another", times=1) == [True]


def test_what_was_asked_before_it_went_counts_too(over_redis):
    assert asked("one", times=2) == [True, True]
    with override_settings(CACHES={"default": OVER_REDIS}):
        assert asked("one", times=2) == [True, False]


def test_what_other_workers_have_let_through_counts_while_it_answers(over_redis):
    assert asked("one", times=3) == [True] * 3
    counted.forget()  # as in another worker
    assert asked("one", times=1) == [False]


def test_without_redis_there_is_one_count(settings):
    settings.REDIS_URL = ""
    cache.clear()
    counted.forget()
    assert asked("without redis", times=4) == [True, True, True, False]
    assert not counted._OWN._cache  # type: ignore[attr-defined]  # nothing is counted twice
    cache.clear()
    assert asked("without redis", times=1) == [True]
