"""What comes from Redis is data, whoever has put it there."""

from pathlib import Path
import pickle

from django.core.cache.backends.redis import RedisCache
import pytest

from copilot_admin.config.cached_json import CachedJson


@pytest.mark.parametrize("value", [7, "é", None, True, [1, 2.5], {"a": [None]}])
def test_a_value_comes_back(value):
    assert CachedJson().loads(CachedJson().dumps(value)) == value


def test_a_number_is_its_digits():
    assert CachedJson().dumps(7) == b"7"
    assert CachedJson().loads(7) == 7


class _Planted:
    def __init__(self, file):
        self.file = file

    def __reduce__(self):
        return Path.touch, (self.file,)


def test_a_pickle_is_nothing_and_nothing_runs(tmp_path):
    planted = pickle.dumps(_Planted(tmp_path / "ran"))
    assert CachedJson().loads(planted) is None
    assert not (tmp_path / "ran").exists()


def test_the_cache_of_redis_takes_it():
    options = {"OPTIONS": {"serializer": "copilot_admin.config.cached_json.CachedJson"}}
    cache = RedisCache("redis://127.0.0.1:6379/0", options)
    assert isinstance(cache._cache._serializer, CachedJson)
