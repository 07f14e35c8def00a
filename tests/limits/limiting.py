"""Rules, limits and requests for tests."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from limits.aio.storage import memory

from copilot_admin.limits.admission import Admission, admit_request
from copilot_admin.limits.rules import LimitRule, LimitSubject, RequestIdentity, build_rules
from copilot_admin.limits.usage import LIMIT_CACHE
from copilot_admin.models import LimitScope
from copilot_admin.storage.writer import Deadline

SERVER = LimitSubject(LimitScope.SERVER)
COPILOT = LimitSubject(LimitScope.COPILOT, "3")
KEY = LimitSubject(LimitScope.KEY, "7")
USER = LimitSubject(LimitScope.USER, "anna")
ADDRESS = LimitSubject(LimitScope.ADDRESS, "8.8.8.8")
NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)


def make_rule(subject: LimitSubject = COPILOT, **limits: Any) -> LimitRule:
    [rule] = build_rules(subject, limits)
    return rule


@contextmanager
def limited(limits: dict[LimitSubject, dict[str, Any]]) -> Iterator[None]:
    """Set limits without a database; the minute of rates stands still."""
    clock = SimpleNamespace(time=NOON.timestamp)
    with patch.object(LIMIT_CACHE, "_limits", limits), patch.object(memory, "time", clock):
        yield


async def ask(id: str = "a", **identity: Any) -> Admission:
    fields = {"copilot_id": 3, **identity}
    return await admit_request(RequestIdentity(**fields), id=id, deadline=Deadline())
