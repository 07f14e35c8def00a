"""Rules looked at once a minute: claimed, measured, handed on.

Of several processes one gets each rule: it moves the moment at which the rule is due next.
"""

from datetime import datetime, timedelta
from functools import partial

from django.db import connections
from django.db.models import Q
from django.utils import timezone

from copilot_admin.alerts.digests import send_due_digests
from copilot_admin.alerts.kind import Watched, all_kinds
from copilot_admin.alerts.scope import scope_of
from copilot_admin.alerts.settling import RuleFinding, settle
from copilot_admin.alerts.windows import AlertWindow
from copilot_admin.models import Alert, AlertRule
from copilot_admin.storage.writer import WRITER

EVERY = timedelta(minutes=1)
AT_ONCE = 20  # rules of one round; the others follow in the next one, seconds later


def check_due() -> None:
    """Looks at the rules whose time has come; call it in a thread of its own.

    Reads with a connection that it gives back, and writes through the journal's thread. A rule is claimed
    when the one before is settled: of one that breaks the others are looked at seconds later.
    """
    try:
        for _ in range(AT_ONCE):
            claimed = WRITER.submit(partial(claim_due, timezone.now(), most=1)).result()
            if not claimed:
                break
            finding = found(claimed[0], timezone.now())
            if finding is not None:
                WRITER.submit(partial(settle, finding, timezone.now())).result()
    finally:
        connections.close_all()
    WRITER.submit(partial(send_due_digests, timezone.now())).result()


def claim_due(at: datetime, *, most: int = AT_ONCE) -> list[AlertRule]:
    """Rules to look at now, at most so many, handed to one caller only; what was switched off is closed."""
    Alert.objects.filter(closed_at=None, rule__enabled=False).update(closed_at=at)
    # What is due later than that was written by a clock that went wrong.
    is_due = Q(due_at__lte=at) | Q(due_at__gt=at + 2 * EVERY)
    due = AlertRule.objects.filter(is_due, enabled=True).select_related("copilot", "webhook")
    claimed = []
    for rule in due.order_by("due_at", "pk")[:most]:
        if AlertRule.objects.filter(pk=rule.pk, due_at=rule.due_at).update(due_at=at + EVERY):
            rule.due_at = at + EVERY
            claimed.append(rule)
    return claimed


def found(rule: AlertRule, at: datetime) -> RuleFinding | None:
    """Measures what a rule watches; None: this release does not know how."""
    kind = all_kinds().get(rule.kind)
    if kind is None or rule.window not in kind.windows:
        return None
    scope = scope_of(rule)
    watched = Watched(
        scope=scope, window=AlertWindow(rule.window), at=at, with_words=rule.with_words
    )
    return RuleFinding(rule=rule, kind=kind, scope=scope, measured=kind.measure(watched))
