"""Rejected requests, stored by the minute for the page of limits."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from functools import partial

from django.db.models import F, Max

from copilot_admin.errors import Unavailable
from copilot_admin.limits.rules import LimitRule, RequestIdentity
from copilot_admin.models.limits import LimitRejection, LimitScope
from copilot_admin.storage.writer import WRITER

RETENTION = timedelta(days=7)
MAX_ROWS = 10_000
_MAX_PENDING = 200  # subjects of some seconds; the others are counted without a name
_PERSONAL_SCOPES = (LimitScope.USER, LimitScope.ADDRESS)

_Key = tuple[datetime, LimitScope, str, str]  # minute, subject and kind


class Rejections:
    """Rejections of this process that wait to be stored; a crash loses those of some seconds."""

    def __init__(self) -> None:
        self._pending: Counter[_Key] = Counter()

    def add(self, rule: LimitRule, identity: RequestIdentity) -> None:
        minute = datetime.now(UTC).replace(second=0, microsecond=0)
        scope, id, kind = rule.subject.scope, rule.subject.id, rule.kind.key
        is_hidden = scope in _PERSONAL_SCOPES and not identity.is_recorded
        is_new = (minute, scope, id, kind) not in self._pending
        if is_hidden or (is_new and len(self._pending) >= _MAX_PENDING):
            id = ""
        self._pending[minute, scope, id, kind] += 1

    async def store(self) -> None:
        """Store what waits and delete what is old; a periodic task, and the last act of a server."""
        pending, self._pending = self._pending, Counter()
        if not pending:
            return
        try:
            await WRITER.run(partial(_store, pending))
        except Unavailable:
            self._pending.update(pending)


def _store(pending: Counter[_Key]) -> None:
    now = datetime.now(UTC)
    for (minute, scope, id, kind), number in pending.items():
        LimitRejection.objects.update_or_create(
            minute=minute,
            scope=scope,
            subject=id,
            kind=kind,
            defaults={"number": F("number") + number, "last_at": now},
            create_defaults={"number": number, "last_at": now},
        )
    LimitRejection.objects.filter(minute__lt=now - RETENTION).delete()
    newest = LimitRejection.objects.aggregate(pk=Max("pk"))["pk"]
    LimitRejection.objects.filter(pk__lte=newest - MAX_ROWS).delete()


REJECTIONS = Rejections()
