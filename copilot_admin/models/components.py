"""Calls of components over HTTP."""

from typing import TYPE_CHECKING

from django.db import models
from django.utils.translation import gettext_lazy as _

from copilot_admin.models.access import EndpointKey, EndUser
from copilot_admin.models.copilots import Copilot
from copilot_admin.models.fields import OrderedJsonField

if TYPE_CHECKING:
    from protocol.json import Json


class CallStatus(models.TextChoices):
    DONE = "done", _("Done")
    REFUSED = "refused", _("Arguments rejected")
    FAILED = "failed", _("Failed")
    CANCELLED = "cancelled", _("Cancelled")


class ComponentCall(models.Model):
    """A component call, written when it ends; `arguments` is None if they aren't stored."""

    key = models.ForeignKey(
        EndpointKey,
        models.SET_NULL,
        verbose_name=_("API key"),
        null=True,
        related_name="component_calls",
    )
    copilot = models.ForeignKey(  # whose settings and model it had, if any
        Copilot,
        verbose_name=_("copilot"),
        null=True,
        on_delete=models.CASCADE,
        related_name="component_calls",
    )
    user = models.ForeignKey(  # whom a token or a trusted proxy named
        EndUser,
        verbose_name=_("user"),
        null=True,
        on_delete=models.PROTECT,
        related_name="component_calls",
        db_index=False,
    )
    component = models.CharField(_("tool"), max_length=64)
    version = models.CharField(_("version"), max_length=40)
    action = models.CharField(_("action"), max_length=10)
    trace_id = models.CharField(_("trace ID"), max_length=128)
    request_id = models.CharField(_("request ID"), max_length=128)
    arguments: "models.Field[Json, Json]" = OrderedJsonField(_("arguments"), null=True)
    status = models.CharField(_("status"), max_length=10, choices=CallStatus.choices)
    events = models.PositiveIntegerField(_("events"), default=0)
    usage = models.JSONField(_("usage"), default=list)
    ms = models.PositiveIntegerField(_("milliseconds"))
    error = models.TextField(_("error"), blank=True)
    created_at = models.DateTimeField(_("time"))

    class Meta:
        verbose_name = _("tool call")
        verbose_name_plural = _("tool calls")
        ordering = ["-created_at", "-id"]
        indexes = [
            models.Index(fields=["-created_at", "-id"], name="call_newest"),
            models.Index(fields=["component", "-created_at", "-id"], name="call_of_component"),
            models.Index(fields=["status", "-created_at", "-id"], name="call_of_status"),
            models.Index(
                fields=["user", "-created_at"],
                condition=models.Q(user__isnull=False),
                name="call_of_user",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.component} {self.version} {self.status}"
