"""Entries as lines for other systems: JSON, and syslog around it."""

import json

from copilot_admin.audit.chain import fields_of
from copilot_admin.audit.unreadable import is_unreadable
from copilot_admin.models.audit import AuditEntry
from protocol.json import JsonObject

# Source: RFC 5424. Facility 13 is "log audit", severity 6 "informational".
PRIORITY = 13 * 8 + 6
LONGEST_HOST = 255


def values_of(entry: AuditEntry) -> JsonObject:
    """An entry with all that its hash covers, and the hash: whoever collects them can check the links.

    `before` and `after` stay the texts that were hashed. Of one that cannot be read it is the number.
    """
    if is_unreadable(entry):
        return {"sequence": entry.sequence, "action": entry.action}
    return {**fields_of(entry), "hash": entry.hash}


def json_line(entry: AuditEntry) -> str:
    """An entry as one line: ASCII, without a control character."""
    return json.dumps(values_of(entry), ensure_ascii=True, separators=(",", ":"))


def syslog_line(entry: AuditEntry, *, host: str) -> str:
    """An entry as a message of RFC 5424, whose text is the line of JSON."""
    time = values_of(entry).get("at", "-")
    name = "".join(one for one in host if "!" <= one <= "~")[:LONGEST_HOST] or "-"
    return f"<{PRIORITY}>1 {time} {name} copilot-admin - audit - {json_line(entry)}"


def syslog_frame(line: str) -> bytes:
    """A message as it goes over TCP: RFC 6587, counted in octets, so that none runs into the next."""
    data = line.encode("ascii")
    return b"%d %b" % (len(data), data)
