"""What `manage.py check` says, by number."""

import os
from typing import Any

import certifi
from django.core.checks import CheckMessage
from django.db import connection
import pytest

from copilot_admin.config.asking_users import ProxyRules
from copilot_admin.config.networks import networks
from copilot_admin.copilots import checks
from tests.factories import make_provider


def _ids(messages: list[CheckMessage]) -> list[str]:
    assert all(message.hint for message in messages)
    return [str(message.id) for message in messages]


def test_the_settings_as_they_are_have_no_fault():
    for check in (checks.check_database, checks.check_exposure, checks.check_folders):
        assert check(None) == []


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


PROXIES = ProxyRules(email_header="x-user-email", networks=networks(["10.0.0.7"], setting="X"))


@pytest.mark.parametrize(
    ("changes", "ids"),
    [
        ({"DEBUG": True}, ["copilot.E003"]),
        ({"ALLOWED_HOSTS": ["*"]}, ["copilot.E004"]),
        ({"ALLOWED_HOSTS": [".example.com"]}, ["copilot.E004"]),
        ({"FORWARDED_ALLOW_IPS": "*"}, ["copilot.E005"]),
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
    ("name", "made", "fault"),
    [
        ("SSL_CERT_FILE", None, "No such file or directory"),
        ("SSL_CERT_FILE", b"", "the file holds none"),
        ("SSL_CERT_FILE", b"\0\xffgarbage", "the file holds none"),
        ("SSL_CERT_FILE", "folder", "Is a directory"),
        ("SSL_CERT_FILE", "pipe", "it is no file"),
        ("SSL_CERT_DIR", None, "No such file or directory"),
        ("REQUESTS_CA_BUNDLE", None, "No such file or directory"),
    ],
)
def test_issuers_that_cannot_be_read_are_a_warning(name, made, fault, monkeypatch, tmp_path):
    """OpenSSL is silent about them, and every certificate is refused as of an unknown issuer."""
    named = tmp_path / "issuers"
    if made == "folder":
        named.mkdir()
    elif made == "pipe":
        os.mkfifo(named)
    elif made is not None:
        named.write_bytes(made)
    monkeypatch.setenv(name, str(named))
    found = checks.check_issuers(None)
    assert _ids(found) == ["copilot.W013"]
    assert found[0].msg == f"{name} names {named}, where no certificates can be read: {fault}."


def test_issuers_that_can_be_read_are_none(monkeypatch, tmp_path):
    monkeypatch.setenv("SSL_CERT_FILE", certifi.where())
    monkeypatch.setenv("SSL_CERT_DIR", f"{tmp_path / 'none'}{os.pathsep}{tmp_path}")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "")
    assert checks.check_issuers(None) == []
