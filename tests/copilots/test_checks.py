"""What `manage.py check` says, by number."""

from typing import Any

from django.core.checks import CheckMessage
from django.db import connection
import pytest

from copilot_admin.config.networks import ALL_NETWORKS, parse_networks
from copilot_admin.config.observability import MetricsAccess
from copilot_admin.copilots import checks
from copilot_admin.copilots.user_tokens import ProxyRules
from tests.factories import make_provider


def _ids(messages: list[CheckMessage]) -> list[str]:
    assert all(message.hint for message in messages)
    return [str(message.id) for message in messages]


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        ({"CONN_MAX_AGE": 60}, ["copilot.E001"]),
        ({"CONN_MAX_AGE": None}, ["copilot.E001"]),
        ({"ATOMIC_REQUESTS": True}, ["copilot.E002"]),
        ({"CONN_MAX_AGE": 0}, []),
    ],
)
def test_connections_are_not_kept_and_requests_not_wrapped(options, ids, settings, monkeypatch):
    for name, value in options.items():
        monkeypatch.setitem(settings.DATABASES["default"], name, value)
    assert _ids(checks.check_database(None)) == ids


PROXIES = ProxyRules(email_header="x-user-email", networks=parse_networks(["10.0.0.7"]))


@pytest.mark.parametrize(
    ("changes", "ids"),
    [
        ({"DEBUG": True}, ["copilot.E003"]),
        ({"ALLOWED_HOSTS": ["*"]}, ["copilot.E004"]),
        ({"ALLOWED_HOSTS": [".example.com"]}, ["copilot.E004"]),
        ({"TRUSTED_PROXIES": ALL_NETWORKS}, ["copilot.E005"]),
        ({"USER_PROXIES": ProxyRules(email_header="x-user-email")}, ["copilot.W012"]),
        ({"USER_PROXIES": PROXIES}, []),
    ],
)
def test_production_exposes_nothing(changes: dict[str, Any], ids, settings):
    for name, value in changes.items():
        setattr(settings, name, value)
    assert checks.check_exposure(None) == []
    settings.PRODUCTION = True
    assert _ids(checks.check_exposure(None)) == ids


def test_a_data_directory_that_cannot_be_written_is_an_error(settings, tmp_path):
    settings.DATA_DIR = tmp_path / "missing"
    assert _ids(checks.check_folders(None)) == ["copilot.E006"]


def test_a_data_directory_open_to_others_is_a_warning(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    tmp_path.chmod(0o755)
    assert _ids(checks.check_folders(None)) == ["copilot.W007"]


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


@pytest.mark.django_db(transaction=True)
def test_a_database_without_tables_has_no_providers():
    with connection.schema_editor() as editor:
        editor.execute("ALTER TABLE copilot_admin_provider RENAME TO elsewhere")
    try:
        assert checks.check_provider_keys(None, databases=["default"]) == []
    finally:
        connection.close()
        with connection.schema_editor() as editor:
            editor.execute("ALTER TABLE elsewhere RENAME TO copilot_admin_provider")


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
    assert _ids(checks.check_metrics(None)) == ids
