"""Where entries of the audit trail go besides the database, as the environment says it."""

from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from copilot_admin.config.env import BadSetting

STDOUT: Literal["stdout"] = "stdout"
SYSLOG_PORT = 514


@dataclass(frozen=True, slots=True)
class SyslogServer:
    """A server that takes syslog over TCP."""

    host: str
    port: int


Destination = SyslogServer | Literal["stdout"]


def destination_in(text: str) -> Destination | None:
    """Where a setting says that entries go; None: nowhere.

    Raises:
        BadSetting: It says nothing that is understood.
    """
    if not text:
        return None
    if text == STDOUT:
        return STDOUT
    wrong = BadSetting("COPILOT_AUDIT_LOG is not understood. Use stdout or syslog://host:514.")
    try:
        parts = urlsplit(text)
        port = SYSLOG_PORT if parts.port is None else parts.port
    except ValueError:
        raise wrong from None
    if parts.scheme != "syslog" or not parts.hostname or not port or parts.path.strip("/"):
        raise wrong
    return SyslogServer(parts.hostname, port)
