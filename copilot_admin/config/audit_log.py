"""Where entries of the audit trail go besides the database, as the environment says it."""

from dataclasses import dataclass
from typing import Literal

from copilot_admin.config.addresses import parts_of
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
    parts = parts_of(text)
    if parts.scheme != "syslog" or not parts.hostname or parts.path.strip("/"):
        raise BadSetting("COPILOT_AUDIT_LOG is not understood. Use stdout or syslog://host:514.")
    return SyslogServer(parts.hostname, parts.port or SYSLOG_PORT)
