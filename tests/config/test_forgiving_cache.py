"""What pages do with a cache in Redis that is away."""

import logging
import socket
from typing import Any

import pytest
import redis

from copilot_admin.admin.logins.counted import within
from copilot_admin.config import forgiving_cache
from copilot_admin.config.forgiving_cache import ForgivingRedisCache
from tests.babbling import REPLIES, babbling
from tests.polling import HANGS_SECONDS
from tests.services import REDIS_URL

CACHED_JSON = "copilot_admin.config.cached_json.CachedJson"


@pytest.fixture
def cache() -> ForgivingRedisCache:
    """Of a port on which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    return ForgivingRedisCache(f"redis://127.0.0.1:{port}/0", {})


def test_what_is_away_knows_nothing_and_stops_nobody(cache: Any, monkeypatch: Any) -> None:
    cache.set("a", 1)
    assert cache.get("a") is None
    assert cache.get("a", "otherwise") == "otherwise"
    assert cache.add("a", 1) is True
    assert cache.delete("a") is False
    with pytest.raises(ValueError, match="does not answer"):
        cache.incr("a")
    assert (cache.touch("a"), cache.has_key("a")) == (False, False)
    assert (cache.get_many(["a", "b"]), cache.set_many({"a": 1, "b": 2})) == ({}, ["a", "b"])
    assert cache.get_or_set("a", 5) == 5
    cache.delete_many(["a", "b"])
    cache.clear()
    monkeypatch.setattr("copilot_admin.admin.logins.counted.cache", cache)
    assert within("somebody", 0, seconds=60)


@pytest.mark.parametrize("reply", REPLIES.values(), ids=REPLIES)
def test_one_that_talks_nonsense_is_as_one_that_is_away(reply: bytes, monkeypatch: Any) -> None:
    def alone(value: Any) -> Any:
        """As the next one is asked, who leaves nothing alone."""
        monkeypatch.setattr(forgiving_cache, "_AWAY_UNTIL", {})
        return value

    with babbling(reply) as url:
        options = {"socket_timeout": HANGS_SECONDS, "serializer": CACHED_JSON}
        cache = ForgivingRedisCache(url, {"OPTIONS": options})
        cache.set("a", 1)
        assert alone(alone(cache).get("a")) in (None, [])
        assert list(alone(cache.get_many(["a"]))) in ([], ["a"])
        assert alone(cache.add("a", 1)) in (True, False)
        monkeypatch.setattr("copilot_admin.admin.logins.counted.cache", cache)
        assert within("somebody", 0, seconds=60)


def test_it_is_left_alone_for_a_while_and_said_once(
    cache: Any, monkeypatch: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            ForgivingRedisCache(cache._server, {}).get("a")
    assert caplog.messages == ["the cache does not answer: ConnectionError"]
    monkeypatch.setattr(forgiving_cache, "_AWAY_UNTIL", {})  # the time is over
    with caplog.at_level(logging.WARNING):
        cache.get("a")
    assert len(caplog.messages) == 2


def has_end(client: Any, name: str) -> bool:
    return bool(client.ttl(name) > 0)


@pytest.mark.redis
def test_a_number_that_runs_out_while_it_is_counted_begins_with_an_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It would stand for ever, and who is counted by it would never be let in again."""
    counted = ForgivingRedisCache(REDIS_URL, {"KEY_PREFIX": "runs-out"})
    name = counted.make_and_validate_key("number")
    looks = redis.Redis.exists

    def runs_out(client: Any, *keys: Any) -> Any:
        found = looks(client, *keys)
        client.delete(*keys)
        return found

    with redis.Redis.from_url(REDIS_URL) as client:
        counted.set("number", 1, 60)
        assert (counted.incr("number", 2), has_end(client, name)) == (3, True)
        monkeypatch.setattr(redis.Redis, "exists", runs_out)
        counted.add("number", 0, 60)
        assert (counted.incr("number"), has_end(client, name)) == (4, True)
        client.delete(name)
        with pytest.raises(ValueError, match="does not know"):
            counted.incr("number")
        assert client.get(name) is None
