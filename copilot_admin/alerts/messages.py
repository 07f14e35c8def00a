"""Contents of alert mails and webhooks; untrusted text in them is limited to one short line."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext as _

from copilot_admin.alerts.rule_kinds import RULE_KINDS
from copilot_admin.alerts.rules import WINDOW_LABELS, AlertScope, RuleKind, format_value
from copilot_admin.analytics.periods import Span
from copilot_admin.audit.recording import sanitize_line
from copilot_admin.models import Alert, AlertRule, DeliveryEvent
from copilot_admin.models.alerts import MAX_MAIL_SUBJECT_LENGTH

MAX_SENTENCE_CHARACTERS = 500
MAX_NAME_CHARACTERS = 100
MAX_SCOPE_CHARACTERS = 150
CONVERSATIONS = "admin:copilot_admin_conversation_changelist"


def to_line(text: str, max_characters: int) -> str:
    """Return the start of a text as one line that can't begin a header or change direction."""
    line = " ".join(sanitize_line(text, 2 * max_characters).split())
    if len(line) <= max_characters and len(text) <= 2 * max_characters:
        return line
    return line[: max_characters - 1].rstrip() + "…"


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertMessage:
    """Message for all recipients: `paragraphs` for mails, `data` for webhooks."""

    event: DeliveryEvent
    subject: str
    paragraphs: Sequence[str]
    at: datetime
    data: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        footer = _("Copilot Admin sent this because of an alert rule or digest.")
        return "\n\n".join(filter(None, (*self.paragraphs, "-- \n" + footer))) + "\n"

    @property
    def payload(self) -> Mapping[str, Any]:
        """Body of the webhook, in the form of Standard Webhooks."""
        name = "digest.weekly" if self.event is DeliveryEvent.DIGEST else f"alert.{self.event}"
        return {"type": name, "timestamp": self.at.astimezone(UTC).isoformat(), "data": self.data}


def build_subject(text: str) -> str:
    """Build a subject line; `=?` would be decoded by mail programs."""
    return to_line(f"[Copilot Admin] {text.replace('=?', '= ?')}", MAX_MAIL_SUBJECT_LENGTH)


def build_analytics_url(scope: AlertScope, span: Span) -> str:
    days = {"since": f"{span.first:%Y-%m-%d}", "until": f"{span.last_day:%Y-%m-%d}"}
    return _public_url(f"{reverse('admin:analytics')}?{urlencode({**scope.filters, **days})}")


def describe_condition(kind: RuleKind, rule: AlertRule) -> str:
    more, less = (
        _("at %(threshold)s or more within %(window)s"),
        _("at %(threshold)s or less within %(window)s"),
    )
    window = WINDOW_LABELS.get(rule.window, rule.window)
    threshold = format_value(kind.unit, rule.threshold)
    text = (less if kind.is_low_bad else more) % {"threshold": threshold, "window": window}
    if not kind.minimum_label:
        return text
    minimum = _("with at least %(minimum)d %(what)s")
    return f"{text}, {minimum % {'minimum': rule.minimum, 'what': kind.minimum_label}}"


def build_alert_message(
    event: DeliveryEvent, alert: Alert, *, scope: AlertScope, now: datetime
) -> AlertMessage:
    rule = alert.rule
    kind = RULE_KINDS[rule.kind]
    name = to_line(rule.name, MAX_NAME_CHARACTERS)
    sentence = to_line(alert.sentence, MAX_SENTENCE_CHARACTERS)
    url = _public_url(f"{reverse(CONVERSATIONS)}?{alert.query}")
    subjects = {
        DeliveryEvent.OPENED: _("%(name)s: %(what)s"),
        DeliveryEvent.REMINDER: _("Still open: %(name)s: %(what)s"),
        DeliveryEvent.CLOSED: _("Resolved: %(name)s"),
    }
    closed = _("Resolved at %(moment)s.") % {"moment": _format_time(alert.closed_at)}
    condition = {"name": name, "when": describe_condition(kind, rule)}
    return AlertMessage(
        event=event,
        subject=build_subject(subjects[event] % {"name": name, "what": sentence}),
        paragraphs=[
            f"{sentence} ({to_line(scope.label, MAX_SCOPE_CHARACTERS)}).",
            _("The rule “%(name)s” opens an alert %(when)s.") % condition,
            _("Open since %(moment)s.") % {"moment": _format_time(alert.opened_at)},
            closed if alert.closed_at else "",
            _("Conversations: %(url)s") % {"url": url},
        ],
        at=now,
        data={
            "alert": alert.pk,
            "rule": {"id": rule.pk, "name": name, "kind": rule.kind},
            "sentence": sentence,
            "value": None if alert.value is None else float(alert.value),
            "threshold": float(rule.threshold),
            "unit": str(kind.unit),
            "copilots": dict(scope.filters),
            "opened_at": alert.opened_at.astimezone(UTC).isoformat(),
            "closed_at": alert.closed_at and alert.closed_at.astimezone(UTC).isoformat(),
            "url": url,
        },
    )


def build_test_message(name: str, now: datetime) -> AlertMessage:
    text = _("This is a test message of “%(name)s”.") % {"name": to_line(name, MAX_NAME_CHARACTERS)}
    return AlertMessage(
        event=DeliveryEvent.TEST,
        subject=build_subject(_("Test: %(name)s") % {"name": name}),
        paragraphs=[text],
        at=now,
        data={"sentence": text},
    )


def _format_time(at: datetime | None) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if at else ""


def _public_url(path: str) -> str:
    return f"{settings.PUBLIC_URL.rstrip('/')}{path}"
