"""The cache over Redis while Redis is away."""

from django.conf import settings
import pytest

from copilot_admin.config.cache import FallbackCache


@pytest.fixture
def away() -> FallbackCache:
    options = {
        "IGNORE_EXCEPTIONS": True,
        "SERIALIZER": "django_redis.serializers.json.JSONSerializer",
        "SOCKET_CONNECT_TIMEOUT": 1,
    }
    return FallbackCache("redis://127.0.0.1:9/0", {"OPTIONS": options})


def test_sign_in_is_still_counted(away):
    assert away.add("allauth:rl:x", [1], timeout=60)
    assert not away.add("allauth:rl:x", [2], timeout=60)
    away.set("allauth:rl:x", [1, 2], 60)
    assert away.get("allauth:rl:x", []) == [1, 2]
    away.delete("allauth:rl:x")
    assert away.get("allauth:rl:x", "none") == "none"


def test_other_values_are_not_kept(away):
    assert not away.add("models", 1, timeout=60)
    away.set("models", 1, 60)
    assert away.get("models") is None


def test_cookies_belong_to_the_data_folder():
    """Two servers of a machine would sign each other's users out."""
    assert settings.SESSION_COOKIE_NAME != "sessionid"
    assert settings.CSRF_COOKIE_NAME.rpartition("_")[2] == settings.SESSION_COOKIE_NAME[-8:]
