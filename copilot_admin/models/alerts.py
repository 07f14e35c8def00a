"""Alert rules, alerts, weekly digests, webhooks and message deliveries."""

import uuid

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import CASCADE, PROTECT, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from copilot_admin.models.copilots import Copilot
from copilot_admin.models.fields import index, unique

MAX_MAIL_ADDRESS_LENGTH = 254  # of a mailbox, RFC 5321 with its erratum 1690
MAX_WEBHOOK_URL_LENGTH = 500
MAX_MAIL_SUBJECT_LENGTH = 200


class AlertWebhook(models.Model):
    """A URL that receives signed POST requests; its secret is encrypted and shown once."""

    name = models.CharField(_("name"), max_length=100, unique=True)
    url = models.CharField(_("URL"), max_length=MAX_WEBHOOK_URL_LENGTH)
    secret_cipher = models.TextField(blank=True, editable=False)
    made_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        verbose_name = _("webhook")
        verbose_name_plural = _("webhooks")
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Notifier(models.Model):
    """Columns of rules and digests: the copilots they cover and their recipients."""

    name = models.CharField(_("name"), max_length=100)
    copilot = models.ForeignKey(
        Copilot, CASCADE, verbose_name=_("copilot"), null=True, blank=True, related_name="+"
    )
    tag = models.CharField(_("tag"), max_length=50, blank=True)
    mails = models.TextField(_("email to"), blank=True)  # one address per line
    webhook = models.ForeignKey(
        AlertWebhook, PROTECT, verbose_name=_("webhook"), null=True, blank=True, related_name="+"
    )
    enabled = models.BooleanField(_("enabled"), default=True)
    # A worker moves it first, so that no two process the same row.
    due_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.name


class AlertRule(Notifier):
    """A metric that is watched, with its threshold."""

    kind = models.CharField(_("alerts about"), max_length=30)
    threshold = models.DecimalField(
        _("threshold"),
        max_digits=12,
        decimal_places=2,
        validators=[MinValueValidator(0), MaxValueValidator(1_000_000_000)],
    )
    window = models.CharField(_("period"), max_length=10)
    minimum = models.PositiveIntegerField(
        _("at least"), default=1, validators=[MaxValueValidator(1_000_000_000)]
    )
    muted_until = models.DateTimeField(_("muted until"), null=True, blank=True)

    class Meta:
        verbose_name = _("alert rule")
        verbose_name_plural = _("alert rules")
        ordering = ["name", "id"]
        indexes = [index("alert_rule_due", "due_at")]


class AlertDigest(Notifier):
    """A weekly mail that compares the week with the one before."""

    weekday = models.PositiveSmallIntegerField(
        _("day"), default=0, validators=[MaxValueValidator(6)]
    )  # 0: Monday
    hour = models.PositiveSmallIntegerField(
        _("hour (UTC)"), default=7, validators=[MaxValueValidator(23)]
    )

    class Meta:
        verbose_name = _("weekly digest")
        verbose_name_plural = _("weekly digests")
        ordering = ["name", "id"]
        indexes = [index("alert_digest_due", "due_at")]


class Alert(models.Model):
    """A period in which the threshold of a rule was exceeded."""

    rule = models.ForeignKey(AlertRule, CASCADE, related_name="alerts")
    opened_at = models.DateTimeField(_("opened"))
    closed_at = models.DateTimeField(_("closed"), null=True)
    told_at = models.DateTimeField(
        _("notified"), null=True
    )  # when messages were queued; None: muted
    good_since = models.DateTimeField(null=True)  # of one that is about to close
    value = models.DecimalField(max_digits=20, decimal_places=2, null=True)
    sentence = models.TextField(_("alert"))
    query = models.TextField(blank=True)  # of the list of its conversations

    class Meta:
        verbose_name = _("alert")
        verbose_name_plural = _("alerts")
        ordering = ["-opened_at", "-id"]
        indexes = [index("alert_recent", "-opened_at -id")]
        constraints = [unique("alert_open_once", "rule", Q(closed_at=None))]

    def __str__(self) -> str:
        return self.sentence[:80]


class DeliveryEvent(models.TextChoices):
    OPENED = "opened", _("Alert opened")
    REMINDER = "reminder", _("Alert still open")
    CLOSED = "closed", _("Alert closed")
    DIGEST = "digest", _("Weekly digest")
    TEST = "test", _("Test")


class DeliveryState(models.TextChoices):
    WAITING = "waiting", _("Waiting")
    SENT = "sent", _("Delivered")
    FAILED = "failed", _("Failed")


class AlertDelivery(models.Model):
    """A mail or webhook request, retried until it is accepted."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    event = models.CharField(_("event"), max_length=10, choices=DeliveryEvent.choices)
    alert = models.ForeignKey(Alert, CASCADE, null=True, related_name="deliveries")
    digest = models.ForeignKey(AlertDigest, CASCADE, null=True, related_name="+")
    webhook = models.ForeignKey(AlertWebhook, CASCADE, null=True, related_name="deliveries")
    to = models.CharField(_("to"), max_length=MAX_MAIL_ADDRESS_LENGTH, blank=True)
    subject = models.CharField(_("subject"), max_length=MAX_MAIL_SUBJECT_LENGTH)
    body = models.TextField()
    state = models.CharField(
        _("status"), max_length=7, choices=DeliveryState.choices, default=DeliveryState.WAITING
    )
    attempts = models.PositiveIntegerField(_("attempts"), default=0)
    claim = models.PositiveIntegerField(default=0)  # number of leases
    due_at = models.DateTimeField(_("next attempt"), default=timezone.now)
    status = models.PositiveSmallIntegerField(_("HTTP status"), null=True)
    answer = models.TextField(_("response"), blank=True)  # its head, or why there is none
    made_at = models.DateTimeField(_("created"), default=timezone.now)
    tried_at = models.DateTimeField(_("last attempt"), null=True)

    class Meta:
        verbose_name = _("delivery")
        verbose_name_plural = _("deliveries")
        ordering = ["-made_at", "-id"]
        indexes = [
            index("alert_delivery_waiting", "due_at", Q(state="waiting")),
            index("alert_delivery_recent", "-made_at -id"),
        ]

    def __str__(self) -> str:
        return self.subject
