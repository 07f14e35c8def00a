"""Log lines: one line each, as text or JSON, without secrets that this process knows."""

from collections import Counter
from datetime import UTC, datetime
from enum import StrEnum
import json
import logging
import re
from threading import Lock
from time import monotonic

MIN_SECRET_LENGTH = 8  # hiding shorter texts would hide ordinary words
HIDDEN = "[hidden]"
_CONTROL_CHARACTERS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
# The token of a password reset stands in the path, those of a sign-in in the query string.
_URL_SECRET = re.compile(
    r"(/password-reset/[^/\s]+/|/password/reset/key/|[?&](?:code|state|token|key)=)[^/?&#\s\\\"']+"
)
_secrets: set[str] = set()


class LogFormat(StrEnum):
    TEXT = "text"
    JSON = "json"


def hide(*secrets: str) -> None:
    """Keep these texts out of all log lines from now on."""
    _secrets.update(secret for secret in secrets if len(secret) >= MIN_SECRET_LENGTH)


def without_secrets(text: str) -> str:
    for secret in _secrets:
        text = text.replace(secret, HIDDEN)
    return text


def hide_url_secrets(text: str) -> str:
    return _URL_SECRET.sub(rf"\1{HIDDEN}", text)


class OneLineFormatter(logging.Formatter):
    """Formats a record as one line; control characters are escaped, so nobody can forge lines."""

    def format(self, record: logging.LogRecord) -> str:
        line = hide_url_secrets(without_secrets(super().format(record)))
        return _CONTROL_CHARACTERS.sub(lambda match: ascii(match[0])[1:-1], line)


class JsonFormatter(logging.Formatter):
    """Formats a record as one JSON object; `fields` of a record replace its message."""

    def format(self, record: logging.LogRecord) -> str:
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
        # ASCII: control characters are escaped
        text = hide_url_secrets(json.dumps(line, default=str))
        for secret in _secrets:
            text = text.replace(json.dumps(secret)[1:-1], HIDDEN)
        return text


FORMATTERS = {LogFormat.TEXT: OneLineFormatter, LogFormat.JSON: JsonFormatter}


class AccessLogFilter(logging.Filter):
    """Removes query strings, which may hold keys, from the access log."""

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple) and len(record.args) > 2:  # of uvicorn
            client, method, path, *rest = record.args
            record.args = (client, method, str(path).partition("?")[0], *rest)
        return True


class ClientErrorFilter(logging.Filter):
    """Logs rejected requests (4xx) as warnings without a traceback: anybody can cause them."""

    def filter(self, record: logging.LogRecord) -> bool:
        if 400 <= getattr(record, "status_code", 0) < 500:
            record.exc_info = record.exc_text = None
            if record.levelno > logging.WARNING:
                record.levelno, record.levelname = logging.WARNING, "WARNING"
        return True


class ThrottledWarnings:
    """Writes each kind of warning at most once a minute, with the number of those left out."""

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger
        self._logged_at: dict[str, float] = {}
        self._skipped = Counter[str]()
        self._lock = Lock()

    def warn(self, kind: str, line: str, *values: object) -> None:
        now = monotonic()
        with self._lock:
            if kind in self._logged_at and now - self._logged_at[kind] < 60:
                self._skipped[kind] += 1
                return
            self._logged_at[kind] = now
            skipped = self._skipped.pop(kind, 0)
        self._logger.warning("%s; %d more since the line before", line % values, skipped)
