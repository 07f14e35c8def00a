"""Log lines that are one line each, and hold no secret that this process knows."""

from datetime import UTC, datetime
from enum import StrEnum
from http import HTTPStatus
import json
import logging
import re

SHORTEST_SECRET = 8  # characters; hiding shorter ones would blot out ordinary words
HIDDEN = "[hidden]"
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_REFUSALS = frozenset(status for status in HTTPStatus if 400 <= status < 500)
_secrets: set[str] = set()


class LogFormat(StrEnum):
    """How log lines are written."""

    TEXT = "text"
    JSON = "json"


def hide(*secrets: str) -> None:
    """Keeps these texts out of every line that is logged from now on."""
    _secrets.update(secret for secret in secrets if len(secret) >= SHORTEST_SECRET)


def without_secrets(text: str) -> str:
    """A text without what this process keeps secret."""
    for secret in _secrets:
        text = text.replace(secret, HIDDEN)
    return text


def collect_little() -> None:
    """From now on, a record is not told what no line of ours says: thread, process, place in the code.

    A question has two lines, and to find out takes half of what they cost.
    Source: docs.python.org/3/howto/logging.html#optimization
    """
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    logging._srcfile = None  # the howto names it, with its underscore


class OneLineFormatter(logging.Formatter):
    """Formats a record, traceback included, as one line without secrets or control characters.

    What strangers send reaches the log; it must not forge lines or drive a terminal.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Formats the record."""
        return _CONTROL.sub(_escaped, without_secrets(super().format(record)))


class JsonFormatter(logging.Formatter):
    """Formats a record as one line of JSON, without secrets: for programs that collect logs.

    A record that brings `fields` says with them what its message says in words.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Formats the record."""
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
        }
        fields = getattr(record, "fields", None)
        line |= fields if isinstance(fields, dict) else {"message": record.getMessage()}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        if record.stack_info:
            line["stack"] = record.stack_info
        text = json.dumps(line, default=str)  # ASCII: control characters are escaped
        for secret in _secrets:
            text = text.replace(json.dumps(secret)[1:-1], HIDDEN)
        return text


FORMATTERS = {LogFormat.TEXT: OneLineFormatter, LogFormat.JSON: JsonFormatter}


class WithoutQuery(logging.Filter):
    """Cuts the query string off the path in uvicorn's access log: keys have been sent in it."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Lets every record pass; its arguments are client, method, path, version, status."""
        if isinstance(record.args, tuple) and len(record.args) > 2:
            client, method, path, *rest = record.args
            record.args = (client, method, str(path).partition("?")[0], *rest)
        return True


class RefusalIsNoError(logging.Filter):
    """Makes a warning without a traceback of the line of a refused request: nothing broke.

    Anybody can have one written, with a host that is none of ours as often as he likes.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Lets every record pass; Django notes the status of the answer on it."""
        if getattr(record, "status_code", None) in _REFUSALS:
            record.exc_info = record.exc_text = None
            if record.levelno > logging.WARNING:
                record.levelno, record.levelname = logging.WARNING, "WARNING"
        return True


def _escaped(match: re.Match[str]) -> str:
    # The codec for it is a file of Python's, which a process cannot read that may open none any more.
    return ascii(match[0])[1:-1]
