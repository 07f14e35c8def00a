"""A log line is one line and holds no secret, whoever wrote its text."""

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
def test_whatever_is_logged_is_one_printable_line(text):
    line = _line("%s", text)
    assert len(line.splitlines()) == 1
    assert all(character == "\t" or character >= " " for character in line)
    line.encode()


def test_terminal_escapes_are_shown_not_obeyed():
    assert _line("a\x1b[31mb\r\nc") == "INFO a\\x1b[31mb\\r\\nc"


def test_a_traceback_is_part_of_its_line():
    try:
        raise ValueError("broken\nin two")
    except ValueError as error:
        line = _line("failed", exc_info=(type(error), error, error.__traceback__))
    assert line.startswith("INFO failed\\nTraceback (most recent call last):")
    assert len(line.splitlines()) == 1


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
    ("args", "logged"),
    [
        (("1.2.3.4:5", "GET", "/a?key=canary", "1.1", 200), '1.2.3.4:5 - "GET /a HTTP/1.1" 200'),
        (("1.2.3.4:5", "GET", "/a", "1.1", 200), '1.2.3.4:5 - "GET /a HTTP/1.1" 200'),
    ],
)
def test_the_access_log_has_no_query_strings(args, logged):
    record = logging.LogRecord(
        "uvicorn.access", logging.INFO, "file", 1, '%s - "%s %s HTTP/%s" %d', args, None
    )
    assert logs.WithoutQuery().filter(record)
    assert record.getMessage() == logged


def test_other_records_pass_the_access_filter_unchanged():
    record = logging.LogRecord("x", logging.INFO, "file", 1, "%s?%s", ("a", "b"), None)
    assert logs.WithoutQuery().filter(record)
    assert record.getMessage() == "a?b"
