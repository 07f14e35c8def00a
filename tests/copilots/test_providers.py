"""Keys and options of providers, as live copilots use them."""

import os
from pathlib import Path

import pytest

from copilot_admin.copilots.live import admit
from copilot_admin.copilots.providers import forget_secrets_if_moved, provider_spec, set_headers
from copilot_admin.models import Provider
from tests.factories import make_provider, make_published

pytestmark = pytest.mark.django_db


def key_of_live(slug: str) -> str:
    live, _ = admit(slug, key=None)
    assert live.answerer is not None
    return live.answerer.spec.provider.api_key


def test_a_key_file_that_changes_is_read_without_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "key"
    file.write_text("first-key")
    monkeypatch.setenv("COPILOT_KEY_LOCAL_FILE", str(file))
    make_published(slug="news", provider=make_provider(api_key_env="COPILOT_KEY_LOCAL"))
    assert key_of_live("news") == "first-key"
    file.write_text("second-key")
    os.utime(file, (0, 0))
    assert key_of_live("news") == "second-key"


def test_options_reach_the_agent_with_their_headers() -> None:
    provider = make_provider(options={"api_version": "2024-10-21", "streams": False, "gone": 1})
    set_headers(provider, {"X-Gateway": "secret"})
    options = provider_spec(provider).options
    assert (options.api_version, options.streams) == ("2024-10-21", False)
    assert options.headers == (("X-Gateway", "secret"),)


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ({}, True),
        ({"organization": "org"}, True),
        ({"proxy": "http://proxy.example.com:3128"}, False),
        ({"ca_bundle": "/etc/ssl/other.pem"}, False),
    ],
)
def test_secrets_are_forgotten_when_another_machine_could_read_them(
    options: dict[str, str], kept: bool
) -> None:
    provider = Provider(base_url="https://a.com/v1", api_key_cipher="x", headers_cipher="h")
    forget_secrets_if_moved(provider, "https://a.com/v2", options)
    assert (bool(provider.api_key_cipher), bool(provider.headers_cipher)) == (kept, kept)
