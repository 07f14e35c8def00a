"""A log line is one line and holds no secret, whoever wrote its text."""

import json
import logging
import subprocess
import sys
from typing import Any

from hypothesis import given, strategies
import pytest

from copilot_admin.config import logs

FORMATTER = logs.OneLineFormatter("%(levelname)s %(message)s")


FIRST_LINE = """
import codecs
def refuse(name):
    raise OSError(24, "Too many open files")
codecs.unregister(__import__("encodings").search_function)
codecs.register(refuse)
import logging
from copilot_admin.config.logs import OneLineFormatter
print(OneLineFormatter().format(logging.makeLogRecord({"msg": "a\\nb"})))
"""


def test_a_process_that_may_open_no_more_files_writes_its_first_line_with_a_traceback():
    """Python reads the codec of escapes when it is first asked for, and the line was lost."""
    command = [sys.executable, "-c", FIRST_LINE]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "a\\nb\n"


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


JSON_FORMATTER = logs.JsonFormatter()


def _object(message: str, *args: Any, **more: Any) -> Any:
    record = logging.LogRecord(
        "test", logging.INFO, "file", 1, message, args, more.pop("exc", None)
    )
    record.created = 1772443800.25
    record.__dict__.update(more)
    (line,) = JSON_FORMATTER.format(record).splitlines()
    return json.loads(line)


def test_a_line_of_json_says_when_who_and_what():
    assert _object("read %s", "ünï") == {
        "time": "2026-03-02T09:30:00.250+00:00",
        "level": "INFO",
        "logger": "test",
        "message": "read ünï",
    }


@given(strategies.text())
def test_whatever_is_logged_is_one_object(text):
    assert _object("%s", text)["message"] == text


def test_fields_stand_in_place_of_the_message():
    line = _object("run=1", fields={"run": "1", "ms": 5})
    assert "message" not in line
    assert (line["run"], line["ms"]) == ("1", 5)


def test_traceback_and_stack_have_fields_of_their_own():
    try:
        raise ValueError("broken\nin two")
    except ValueError as error:
        line = _object(
            "failed", exc=(type(error), error, error.__traceback__), stack_info="Stack:\n here"
        )
    assert line["message"] == "failed"
    assert line["exception"].endswith("ValueError: broken\nin two")
    assert line["stack"] == "Stack:\n here"


def test_json_lines_hide_secrets_also_with_quotes(monkeypatch):
    monkeypatch.setattr(logs, "_secrets", set())
    logs.hide('sk-"canary"-0123')
    assert _object("key %s", 'sk-"canary"-0123')["message"] == "key [hidden]"


def test_a_record_of_the_server_is_not_told_where_it_comes_from(monkeypatch, caplog):
    for name in ("logThreads", "logProcesses", "logMultiprocessing", "_srcfile"):
        monkeypatch.setattr(logging, name, getattr(logging, name))  # given back at the end
    logs.collect_little()
    with caplog.at_level(logging.INFO):
        logging.getLogger("test").info("asked")
    (record,) = caplog.records
    told = (record.thread, record.threadName, record.process, record.processName, record.lineno)
    assert (record.getMessage(), *told) == ("asked", None, None, None, None, 0)
