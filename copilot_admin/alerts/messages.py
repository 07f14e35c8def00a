"""What is said to people and programs, as values; all that is untrusted in it is one short line. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext as _

from copilot_admin.alerts.kind import RuleKind, shown
from copilot_admin.alerts.plain import one_line
from copilot_admin.alerts.scope import AlertScope
from copilot_admin.alerts.windows import WINDOWS, AlertWindow
from copilot_admin.models import Alert, AlertRule, DeliveryEvent
from copilot_admin.models.alerts import LONGEST_SUBJECT
from copilot_admin.storage.selects import member
from copilot_admin.transcripts.search.periods import Span

LONGEST_LINE = 500
LIST = "admin:copilot_admin_conversation_changelist"


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertMessage:
    """One thing that is told.

    Attributes:
        lines: The mail, a paragraph each.
        data: What a program is told.
    """

    event: DeliveryEvent
    subject: str
    lines: Sequence[str]
    at: datetime
    data: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The body of the mail."""
        footer = _("Copilot Admin sent this because of a rule or a digest of its alerts.")
        return "\n\n".join(filter(None, (*self.lines, "-- \n" + footer))) + "\n"

    @property
    def payload(self) -> Mapping[str, Any]:
        """The body of the request, in the form of Standard Webhooks."""
        name = "digest.weekly" if self.event is DeliveryEvent.DIGEST else f"alert.{self.event}"
        return {"type": name, "timestamp": self.at.astimezone(UTC).isoformat(), "data": self.data}


def subject(text: str) -> str:
    """A subject line: one line, not too long, and no sign in it that mail programs would decode."""
    return one_line(f"[Copilot Admin] {text.replace('=?', '= ?')}", most=LONGEST_SUBJECT)


def list_query(scope: AlertScope, filters: Mapping[str, str]) -> str:
    """The filters of the list that shows what was counted, as its address has them."""
    return urlencode({**scope.filters, **filters})


def list_url(query: str) -> str:
    """The filtered list; without a public address only its path is known."""
    path = reverse(LIST)
    return _absolute(f"{path}?{query}" if query else path)


def figures_url(scope: AlertScope, span: Span) -> str:
    """The page of figures of some days."""
    days = {"since": f"{span.first:%Y-%m-%d}", "until": f"{span.last_day:%Y-%m-%d}"}
    return _absolute(f"{reverse('admin:figures')}?{urlencode({**scope.filters, **days})}")


def rule_words(kind: RuleKind, rule: AlertRule) -> str:
    """From when on a rule tells, in words."""
    form = _("at %(threshold)s or less within %(window)s") if kind.is_low_bad else ""
    form = form or _("from %(threshold)s on within %(window)s")
    threshold = shown(kind.unit, rule.threshold)
    window = WINDOWS.get(member(AlertWindow, rule.window), rule.window)
    words = form % {"threshold": threshold, "window": window}
    if not kind.minimum_label:
        return words
    more = _("with at least %(minimum)d %(what)s")
    return f"{words}, {more % {'minimum': rule.minimum, 'what': kind.minimum_label}}"


def alert_message(
    event: DeliveryEvent, alert: Alert, *, kind: RuleKind, scope: AlertScope, at: datetime
) -> AlertMessage:
    """That an alert opened, is still open, or closed."""
    rule, url = alert.rule, list_url(alert.query)
    name = one_line(rule.name, most=100)
    sentence = one_line(alert.sentence, most=LONGEST_LINE)
    heads = {
        DeliveryEvent.OPENED: _("%(name)s: %(what)s"),
        DeliveryEvent.REMINDER: _("Still so: %(name)s: %(what)s"),
        DeliveryEvent.CLOSED: _("Good again: %(name)s"),
    }
    of = {"name": name, "what": sentence}
    lines = [
        f"{sentence} ({one_line(scope.words, most=150)}).",
        _("The rule “%(name)s” tells %(when)s.") % {"name": name, "when": rule_words(kind, rule)},
        _("Open since %(moment)s.") % {"moment": _moment(alert.opened_at)},
        _("Good again since %(moment)s.") % {"moment": _moment(alert.closed_at)}
        if alert.closed_at
        else "",
        _quoted(alert.words),
        _("The conversations: %(url)s") % {"url": url},
    ]
    return AlertMessage(
        event=event,
        subject=subject(heads[event] % of),
        lines=lines,
        at=at,
        data={
            "alert": alert.pk,
            "rule": {"id": rule.pk, "name": name, "kind": rule.kind},
            "sentence": sentence,
            **_numbers_of(alert, kind),
            "copilots": dict(scope.filters),
            "opened_at": alert.opened_at.astimezone(UTC).isoformat(),
            "closed_at": alert.closed_at.astimezone(UTC).isoformat() if alert.closed_at else None,
            "words": [one_line(text, most=LONGEST_LINE) for text in alert.words],
            "url": url,
        },
    )


def _numbers_of(alert: Alert, kind: RuleKind) -> dict[str, object]:
    """What was measured, and from when on the rule tells."""
    return {
        "value": None if alert.value is None else float(alert.value),
        "threshold": float(alert.rule.threshold),
        "unit": str(kind.unit),
    }


def trial_message(name: str, at: datetime) -> AlertMessage:
    """A message that says only that it arrives."""
    said = _("This is a test: messages of “%(name)s” arrive.") % {"name": one_line(name, most=100)}
    return AlertMessage(
        event=DeliveryEvent.TEST,
        subject=subject(_("Test: %(name)s") % {"name": name}),
        lines=[said],
        at=at,
        data={"sentence": said},
    )


def _quoted(words: Sequence[str]) -> str:
    """What people wrote, marked as theirs: no line of it looks like ours."""
    return "\n".join(f"> {one_line(text, most=LONGEST_LINE)}" for text in words)


def _moment(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def _absolute(path: str) -> str:
    return f"{settings.PUBLIC_URL.rstrip('/')}{path}"
