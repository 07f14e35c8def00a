"""The audit trail: an append-only, hash-chained list of who did what, when and from where."""

from enum import StrEnum
from typing import ClassVar, NoReturn

from django.db import models
from django.utils.translation import gettext_lazy as _

from copilot_admin.errors import ConfigurationError
from copilot_admin.models.fields import Record, index

MAX_NAME_LENGTH = 200  # characters of an actor's or a subject's name
MAX_USER_AGENT_LENGTH = 200
HASH_LENGTH = 64  # of HMAC-SHA256 in hexadecimal digits


class Action(models.TextChoices):
    ADDED = "added", _("Added")
    CHANGED = "changed", _("Changed")
    DELETED = "deleted", _("Deleted")
    DELETION_ENDED = "deletion_ended", _("Deletion ended")
    PUBLISHED = "published", _("Published")
    PUBLISHED_AGAIN = "published_again", _("Rolled back")
    RESTORED = "restored", _("Version restored to the draft")
    SWITCHED = "switched", _("Enabled or disabled")
    ARCHIVED = "archived", _("Archived")
    BROUGHT_BACK = "brought_back", _("Restored from the archive")
    IMPORTED = "imported", _("Imported")
    EXPORTED = "exported", _("Exported")
    DOWNLOADED = "downloaded", _("Downloaded")
    READ = "read", _("Read")
    SEARCHED = "searched", _("Searched")
    TESTED = "tested", _("Tested")
    STARTED = "started", _("Started")
    STOPPED = "stopped", _("Stopped")
    REVOKED = "revoked", _("Revoked")
    ERASED = "erased", _("Erased")
    HELD = "held", _("Legal hold placed")
    RELEASED = "released", _("Legal hold released")
    SENT = "sent", _("Sent")
    BACKED_UP = "backed_up", _("Backed up")
    PUT_BACK = "put_back", _("Backup restored")
    ROTATED = "rotated", _("Secrets re-encrypted")
    LOGGED_IN = "logged_in", _("Signed in")
    LOGIN_FAILED = "login_failed", _("Sign-in failed")
    LOGGED_OUT = "logged_out", _("Signed out")
    PASSWORD_CHANGED = "password_changed", _("Password changed")


class ActorKind(models.TextChoices):
    PERSON = "person", _("Person")
    COMMAND = "command", _("Command")
    SERVER = "server", _("Server")
    STRANGER = "stranger", _("Not signed in")


class AuditCursorName(StrEnum):
    FORWARDING = "forwarding"
    ANCHORS = "anchors"


class OnlyAdded(ConfigurationError):
    """An attempt to change or delete an audit entry."""


class AuditEntryQuerySet(models.QuerySet["AuditEntry"]):
    """Audit entries: read-only, added by `audit.record` alone."""

    def update(self, **_changes: object) -> NoReturn:
        refuse()

    def delete(self) -> NoReturn:
        refuse()


class AuditEntry(models.Model):
    """An audited action.

    It has no foreign keys, so it outlives accounts and copilots. `before` and `after` are the hashed
    JSON; `hash` covers the entry and the previous hash. Database triggers enforce the same rules.
    """

    sequence = models.BigIntegerField(_("number"), primary_key=True)
    at = models.DateTimeField(_("time"), db_index=True)
    actor_kind = models.CharField(_("actor type"), max_length=10, choices=ActorKind.choices)
    actor_id = models.BigIntegerField(null=True)
    actor_name = models.CharField(_("user"), max_length=MAX_NAME_LENGTH)
    address = models.CharField(_("IP address"), max_length=45, blank=True)
    session = models.CharField(_("session"), max_length=16, blank=True)
    agent = models.CharField(_("user agent"), max_length=MAX_USER_AGENT_LENGTH, blank=True)
    action = models.CharField(_("action"), max_length=30)  # an `Action`; a new one is no migration
    subject_kind = models.CharField(_("type"), max_length=50)
    subject_id = models.CharField(_("id"), max_length=64, blank=True)
    subject_name = models.CharField(_("subject"), max_length=MAX_NAME_LENGTH, blank=True)
    before = models.TextField(_("before"), default="{}")
    after = models.TextField(_("after"), default="{}")
    key_id = models.CharField(max_length=8)
    previous = models.CharField(_("hash of the entry before"), max_length=HASH_LENGTH, blank=True)
    hash = models.CharField(_("hash"), max_length=HASH_LENGTH)

    objects: ClassVar[AuditEntryQuerySet] = AuditEntryQuerySet.as_manager()  # type: ignore[assignment]  # a manager made from the queryset has its methods

    class Meta:
        verbose_name = _("audit entry")
        verbose_name_plural = _("audit log")
        default_permissions = ("view",)
        ordering = ["-sequence"]
        indexes = [
            index("audit_actor", "actor_name sequence"),
            index("audit_actor_action", "actor_name action sequence"),
            index("audit_action", "action sequence"),
            index("audit_kind", "subject_kind sequence"),
            index("audit_subject", "subject_kind subject_id sequence"),
        ]

    def __str__(self) -> str:
        return f"{self.sequence}"

    def save(self, *args: object, **kwargs: object) -> None:
        if not self._state.adding:
            refuse()
        super().save(force_insert=True)

    def delete(self, *_args: object, **_kwargs: object) -> NoReturn:
        refuse()


class AuditHead(Record):
    """The newest entry of the chain; adding an entry locks this row until the commit."""

    THE_ONE = 1

    id = models.PositiveSmallIntegerField(primary_key=True, default=THE_ONE)
    sequence = models.BigIntegerField(default=0)
    at = models.DateTimeField(null=True)
    hash = models.CharField(max_length=HASH_LENGTH, blank=True)

    class Meta:
        default_permissions = ()


class AuditCursor(Record):
    """The position of a reader of the chain, with its lease."""

    name = models.CharField(max_length=20, primary_key=True)
    sequence = models.BigIntegerField(default=0)
    taken_until = models.DateTimeField(null=True)

    class Meta:
        default_permissions = ()


def refuse() -> NoReturn:
    raise OnlyAdded("Entries of the audit trail are neither changed nor deleted.")
