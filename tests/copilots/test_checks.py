"""What `manage.py check` says, by number."""

import certifi
from django.core.checks import CheckMessage
import pytest

from copilot_admin.config.observability import MetricsAccess
from copilot_admin.config.variables import parse_networks
from copilot_admin.copilots import checks
from copilot_admin.copilots.user_tokens import ProxyRules
from copilot_admin.environment import Environment, find_unknown_variables
from tests.factories import make_provider


def _ids(messages: list[CheckMessage]) -> list[str]:
    assert all(message.hint for message in messages)
    return [str(message.id) for message in messages]


@pytest.mark.parametrize(("networks", "ids"), [("", ["copilot.W012"]), ("10.0.0.7", [])])
def test_a_user_header_that_no_proxy_may_set_is_a_warning(networks, ids, settings):
    proxies = parse_networks([networks]) if networks else ()
    settings.USER_PROXIES = ProxyRules(email_header="x-user-email", networks=proxies)
    assert _ids(checks.check_exposure(None)) == ids


def test_misspelt_settings_are_warnings(settings, monkeypatch):
    for name in ("COPILOT_ENVV", "COPILOT_ENV_FILE", "COPILOT_ENV", "COPILOT_AUDIT_KEYS_FILE"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("COPILOT_KEY_DESK", "x")
    monkeypatch.setenv("COPILOT_DESK", "x")
    environment = Environment.model_construct(copilot_key_variables=("COPILOT_DESK",))
    settings.UNKNOWN_VARIABLES = find_unknown_variables(environment)
    assert settings.UNKNOWN_VARIABLES == ["COPILOT_ENVV", "COPILOT_ENV_FILE"]
    assert _ids(checks.check_names(None)) == ["copilot.W015"] * 2


def test_a_data_directory_that_cannot_be_written_is_an_error(settings, tmp_path):
    settings.DATA_DIR = tmp_path / "missing"
    assert _ids(checks.check_folders(None)) == ["copilot.E006"]


def test_a_data_directory_open_to_others_is_a_warning(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    tmp_path.chmod(0o755)
    assert _ids(checks.check_folders(None)) == ["copilot.W007"]


@pytest.mark.parametrize("name", checks.CERTIFICATE_VARIABLES)
def test_a_file_without_certificates_is_a_warning(name, monkeypatch, tmp_path):
    for wrong in (tmp_path / "missing.pem", tmp_path / "empty.pem"):
        monkeypatch.setenv(name, str(wrong))
        assert _ids(checks.check_certificates(None)) == ["copilot.W013"]
        (tmp_path / "empty.pem").touch()
    for good in (certifi.where(), str(tmp_path), ""):
        monkeypatch.setenv(name, good)
        assert checks.check_certificates(None) == []


def test_keys_inside_the_data_are_an_error(settings, tmp_path):
    tmp_path.chmod(0o700)
    settings.DATA_DIR, settings.KEYS_DIR = tmp_path, tmp_path / "keys"
    assert _ids(checks.check_folders(None)) == ["copilot.E008"]


@pytest.mark.django_db
def test_a_provider_without_its_key_is_a_warning():
    provider = make_provider(api_key_env="COPILOT_KEY_NOT_SET")
    make_provider()
    assert checks.check_provider_keys(None) == []
    messages = checks.check_provider_keys(None, databases=["default"])
    assert (_ids(messages), messages[0].obj) == (["copilot.W009"], provider)


@pytest.mark.parametrize(
    ("access", "ids"),
    [
        ({}, []),
        ({"networks": "10.0.0.0/8"}, []),
        ({"networks": "0.0.0.0/0"}, ["copilot.W014"]),
        ({"networks": "::/0"}, ["copilot.W014"]),
        ({"networks": "0.0.0.0/0", "token": "a token of some length"}, []),
    ],
)
def test_metrics_that_everyone_can_read_are_a_warning(access, ids, settings):
    settings.METRICS = MetricsAccess.model_validate(access)
    assert _ids(checks.check_exposure(None)) == ids
