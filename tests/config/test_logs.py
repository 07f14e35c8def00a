"""A log line is one line and holds no secret, whoever wrote its text."""

import json
import logging
from typing import Any

from hypothesis import given, strategies
import pytest

from copilot_admin.config import logs

FORMATTER = logs.OneLineFormatter("%(levelname)s %(message)s")


def _line(message: str, *args: Any, **more: Any) -> str:
    return FORMATTER.format(
        logging.LogRecord("test", logging.INFO, "file", 1, message, args, more.get("exc_info"))
    )


@given(strategies.text())
def test_every_record_is_one_printable_line(text):
    line = _line("%s", text)
    assert len(line.splitlines()) == 1
    assert all(character == "\t" or character >= " " for character in line)
    line.encode()


def test_known_secrets_are_hidden_everywhere(monkeypatch):
    monkeypatch.setattr(logs, "_secrets", set())
    logs.hide("sk-canary-0123", "short", "")
    try:
        raise ValueError("sk-canary-0123")
    except ValueError as error:
        line = _line("key %s short", "sk-canary-0123", exc_info=(type(error), error, None))
    assert "canary" not in line
    assert line.startswith("INFO key [hidden] short")


@pytest.mark.parametrize(
    ("url", "logged"),
    [
        ("/admin/password-reset/MQ/c9-abc123/", "/admin/password-reset/MQ/[hidden]/"),
        ("/accounts/password/reset/key/1-c9-abc/", "/accounts/password/reset/key/[hidden]/"),
        (
            "/admin/firm/callback/?code=abc.d&state=x-1",
            "/admin/firm/callback/?code=[hidden]&state=[hidden]",
        ),
        ("/v1/x?a=1&token=abc#part", "/v1/x?a=1&token=[hidden]#part"),
        ("/v1/x?key=abc&a=1", "/v1/x?key=[hidden]&a=1"),
        ("/admin/password-reset/asked/", "/admin/password-reset/asked/"),
        ("/admin/password-reset/", "/admin/password-reset/"),
        ("/admin/?q=code", "/admin/?q=code"),
    ],
)
def test_secrets_in_urls_are_hidden(url, logged):
    assert _line('"GET %s HTTP/1.1" 200', url) == f'INFO "GET {logged} HTTP/1.1" 200'
    record = logging.LogRecord("test", logging.INFO, "file", 1, 'quoted "%s"', (url,), None)
    assert json.loads(logs.JsonFormatter().format(record))["message"] == f'quoted "{logged}"'


@pytest.mark.parametrize(
    ("args", "logged"),
    [
        (("1.2.3.4:5", "GET", "/a?key=canary", "1.1", 200), '1.2.3.4:5 - "GET /a HTTP/1.1" 200'),
        (("1.2.3.4:5", "GET", "/a", "1.1", 200), '1.2.3.4:5 - "GET /a HTTP/1.1" 200'),
        (
            ("1.2.3.4:5", "GET", "/admin/password-reset/MQ/canary-token/", "1.1", 302),
            '1.2.3.4:5 - "GET /admin/password-reset/MQ/[hidden]/ HTTP/1.1" 302',
        ),
    ],
)
def test_the_access_log_has_no_query_strings_and_reset_tokens(args, logged):
    record = logging.LogRecord(
        "uvicorn.access", logging.INFO, "file", 1, '%s - "%s %s HTTP/%s" %d', args, None
    )
    assert logs.AccessLogFilter().filter(record)
    assert FORMATTER.format(record) == f"INFO {logged}"


JSON_FORMATTER = logs.JsonFormatter()


def _object(message: str, *args: Any, **more: Any) -> Any:
    record = logging.LogRecord(
        "test", logging.INFO, "file", 1, message, args, more.pop("exc", None)
    )
    record.created = 1772443800.25
    record.__dict__.update(more)
    (line,) = JSON_FORMATTER.format(record).splitlines()
    return json.loads(line)


@given(strategies.text())
def test_every_record_is_one_json_object(text):
    assert _object("%s", text)["message"] == text


def test_json_lines_hide_secrets_also_with_quotes(monkeypatch):
    monkeypatch.setattr(logs, "_secrets", set())
    logs.hide('sk-"canary"-0123')
    assert _object("key %s", 'sk-"canary"-0123')["message"] == "key [hidden]"
