"""Copilots, their published versions, providers, and copilot files waiting for confirmation."""

from collections.abc import Mapping
import secrets
from typing import Any, ClassVar, Self

from django.contrib.auth.models import User
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models import CASCADE, PROTECT, SET_NULL, Q
from django.db.models.functions import Lower
from django.utils.translation import gettext_lazy as _

from copilot_admin.agent.values.spec import (
    CALL_LIMITS,
    MAX_CALL_LIMIT,
    MAX_CLIENT_CALLS,
    MIN_DATA_TOKENS,
    CitationMode,
    ToolCalling,
    WidgetDataMode,
)
from copilot_admin.models.fields import OrderedJsonField, Record, unique
from protocol.features import FEATURES
from protocol.json import Json

MAX_VERSION_NOTE_LENGTH = 300  # characters of what a version says of itself
PROVIDER_ROW_FIELDS = ("custom_features", "fallbacks")  # lists of rows that may name a provider
MAX_RETENTION_DAYS = 36_500  # days: a hundred years

SLUG = RegexValidator(
    r"^[a-z0-9]+(-[a-z0-9]+)*\Z",
    _("Use lower-case letters and digits, with single hyphens between them: news-reader."),
)


class Provider(models.Model):
    """A model provider: its base URL, encrypted key and timeouts."""

    name = models.CharField(_("name"), max_length=100)
    kind = models.CharField(_("kind"), max_length=50)  # choices: the registry, at form level
    base_url = models.CharField(_("base URL"), max_length=500, blank=True)
    api_key_cipher = models.TextField(blank=True, editable=False)
    api_key_hint = models.CharField(max_length=8, blank=True, editable=False)  # last characters
    api_key_env = models.CharField(_("key variable"), max_length=100, blank=True)
    timeouts = models.JSONField(_("timeouts"), default=dict, blank=True)
    options = models.JSONField(_("options"), default=dict, blank=True)  # of `ProviderOptions`
    headers_cipher = models.TextField(blank=True, editable=False)  # JSON: values by name
    tool_calling = models.CharField(
        _("tool calling"),
        max_length=6,
        choices=[
            (ToolCalling.NATIVE.value, _("Native")),
            (ToolCalling.TEXT.value, _("Prompt-based")),
        ],
        default=ToolCalling.NATIVE.value,
    )
    model_ids = models.JSONField(default=list, blank=True, editable=False)  # as last fetched
    checked_at = models.DateTimeField(_("last check"), null=True, editable=False)
    check_error = models.TextField(blank=True, editable=False)
    updated_at = models.DateTimeField(_("changed"), auto_now=True)

    class Meta:
        verbose_name = _("provider")
        verbose_name_plural = _("providers")
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(
                Lower("name"),
                name="provider_name_unique",
                violation_error_message=_("Another provider has this name."),
            )
        ]

    def __str__(self) -> str:
        return self.name


class Access(models.TextChoices):
    OPEN = "open", _("Open: everyone who can reach this server")
    KEY = "key", _("Key: callers with an API key")


class Logging(models.TextChoices):
    EVERYTHING = "everything", _("Everything")
    METADATA = "metadata", _("Metadata only: times, tokens, outcomes, no content")
    NOTHING = "nothing", _("Nothing but that a run took place")


def call_limits() -> "list[Mapping[str, Json]]":
    return [{"function": limit.function, "most": limit.most} for limit in CALL_LIMITS]


class CopilotQuerySet(models.QuerySet["Copilot"]):
    def in_use(self) -> Self:
        return self.filter(archived_at=None)

    def by_name(self) -> Self:
        return self.order_by(Lower("name"), "pk")

    def published(self) -> Self:
        """Return copilots that answer: enabled, with a live version."""
        return self.filter(enabled=True, live__isnull=False).select_related("live__provider")


class Copilot(models.Model):
    """The draft of a copilot, its live settings, and its live version.

    Questions are answered from `CopilotVersion.document`; editing changes the draft.
    `enabled`, `access`, `limits`, `logging`, `retention_days`, `redaction`,
    `redacted_expressions` and `tags` are not versioned.
    """

    slug = models.CharField(_("slug"), max_length=60, unique=True, validators=[SLUG])
    name = models.CharField(_("name"), max_length=100)
    description = models.TextField(_("description"), blank=True)
    image_url = models.CharField(_("image URL"), max_length=2000, blank=True)
    image = models.FileField(_("image"), upload_to="copilots/", blank=True)
    system_prompt = models.TextField(_("system prompt"), blank=True)
    provider = models.ForeignKey(
        Provider, PROTECT, verbose_name=_("provider"), related_name="copilots"
    )
    model = models.CharField(_("model"), max_length=200)
    model_choices = models.JSONField(_("model picker"), default=list, blank=True)
    fallbacks = models.JSONField(_("fallback models"), default=list, blank=True)
    parameters = models.JSONField(_("parameters"), default=dict, blank=True)
    widget_data = models.CharField(
        _("widget data"),
        max_length=10,
        choices=[(mode.value, mode.value) for mode in WidgetDataMode],
        default=WidgetDataMode.ASK.value,
    )
    features = models.JSONField(_("features"), default=dict, blank=True)  # differences only
    custom_features = models.JSONField(_("custom features"), default=list, blank=True)
    tools = models.JSONField(_("tools"), default=list, blank=True)
    html_sources = models.JSONField(_("images in HTML"), default=list, blank=True)
    components = models.JSONField(_("components"), default=list, blank=True)
    stream_all_text = models.BooleanField(_("show results of components"), default=False)
    citations = models.CharField(
        _("citations"),
        max_length=10,
        choices=[(mode.value, mode.value) for mode in CitationMode],
        default=CitationMode.WIDGETS.value,
    )
    sees_images = models.BooleanField(_("look at images"), default=False)
    read_links = models.BooleanField(_("read links"), default=True)
    show_steps = models.BooleanField(_("show steps"), default=True)
    reasoning_steps = models.BooleanField(_("show reasoning"), default=False)
    max_data_tokens = models.PositiveIntegerField(
        _("most data"), null=True, blank=True, validators=[MinValueValidator(MIN_DATA_TOKENS)]
    )
    max_client_calls = models.PositiveIntegerField(
        _("most calls of Workspace"),
        default=MAX_CLIENT_CALLS,
        validators=[MinValueValidator(1), MaxValueValidator(MAX_CALL_LIMIT)],
    )
    client_call_limits = models.JSONField(
        _("limits of single functions"), default=call_limits, blank=True
    )
    steps = models.JSONField(_("steps"), default=list, blank=True)
    starters = models.JSONField(_("starter questions"), default=list, blank=True)
    data_notes = OrderedJsonField(_("data notes"), default=list, blank=True)
    # Differences only.
    data_messages = models.JSONField(_("data messages"), default=dict, blank=True)

    enabled = models.BooleanField(_("enabled"), default=True)
    access = models.CharField(
        _("access"), max_length=10, choices=Access.choices, default=Access.KEY
    )
    limits = models.JSONField(_("limits"), default=dict, blank=True)
    logging = models.CharField(
        _("logging"), max_length=10, choices=Logging.choices, default=Logging.EVERYTHING
    )
    retention_days = models.PositiveIntegerField(
        _("retention in days"),
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(MAX_RETENTION_DAYS)],
    )
    # Kinds of personal data that are not stored, and expressions for more of them.
    redaction = OrderedJsonField(_("redaction"), default=list, db_default=[], blank=True)
    redacted_expressions = OrderedJsonField(
        _("own expressions"), default=list, db_default=[], blank=True
    )
    tags = models.JSONField(_("tags"), default=list, blank=True)
    # Where copilots have members: whether all builders are. Those of before members are for all.
    is_for_all_builders = models.BooleanField(default=True, db_default=True, editable=False)

    is_demo = models.BooleanField(default=False, db_default=False, editable=False)

    live = models.ForeignKey(
        "CopilotVersion",
        SET_NULL,
        verbose_name=_("live version"),
        null=True,
        blank=True,
        editable=False,
        related_name="+",
    )
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    updated_at = models.DateTimeField(_("changed"), auto_now=True)
    archived_at = models.DateTimeField(null=True, editable=False)  # out of sight, restorable
    # Deleting takes a while: what belongs to the copilot goes in short batches, then the row.
    deletion_requested_at = models.DateTimeField(null=True, editable=False)
    deletion_moved_at = models.DateTimeField(null=True, editable=False)  # when a batch last went

    objects: ClassVar[CopilotQuerySet] = CopilotQuerySet.as_manager()  # type: ignore[assignment]  # a manager made from the queryset has its methods

    class Meta:
        verbose_name = _("copilot")
        verbose_name_plural = _("copilots")
        ordering = ["name"]
        permissions = [
            ("publish_copilot", _("Can publish and enable copilots")),
            ("reach_every_copilot", _("Can edit copilots without being a member")),
        ]
        constraints = [
            models.UniqueConstraint(
                Lower("name"),
                name="copilot_name_unique",
                violation_error_message=_("Another copilot has this name."),
            ),
            models.CheckConstraint(
                condition=Q(deletion_requested_at=None) | Q(enabled=False),
                name="copilot_being_deleted_is_off",
                violation_error_message=_("This copilot is being deleted."),
            ),
            models.CheckConstraint(
                condition=Q(archived_at=None) | Q(enabled=False),
                name="copilot_in_the_archive_is_off",
                violation_error_message=_("This copilot is in the archive."),
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def provider_name(self) -> str:
        return self.provider.name

    @property
    def picture(self) -> str:
        """The URL of the image, or the name of the uploaded one in the storage."""
        return str(self.image.name) if self.image else self.image_url

    @picture.setter
    def picture(self, picture: str) -> None:
        is_url = picture.startswith(("https://", "http://"))
        self.image_url = picture if is_url else ""
        self.image = "" if is_url else picture

    @property
    def all_features(self) -> dict[str, bool]:
        """Every Workspace feature; `features` has those that differ from their default."""
        stored = self.features
        return {one.key: stored.get(one.key, one.default) is True for one in FEATURES}

    @all_features.setter
    def all_features(self, features: "Mapping[str, bool]") -> None:
        self.features = {
            one.key: features[one.key]
            for one in FEATURES
            if features.get(one.key, one.default) != one.default
        }

    @property
    def is_being_deleted(self) -> bool:
        return self.deletion_requested_at is not None

    @property
    def is_archived(self) -> bool:
        return self.archived_at is not None


class CopilotVersion(models.Model):
    """One published state of a whole copilot; never changed once made."""

    copilot = models.ForeignKey(Copilot, CASCADE, related_name="versions", db_index=False)
    number = models.PositiveIntegerField(_("version"))
    document: "models.Field[Mapping[str, Json], Mapping[str, Json]]" = OrderedJsonField()
    provider = models.ForeignKey(Provider, PROTECT, related_name="+")
    note = models.CharField(_("note"), max_length=MAX_VERSION_NOTE_LENGTH, blank=True)
    published_at = models.DateTimeField(_("published"), auto_now_add=True)
    published_by = models.ForeignKey(User, SET_NULL, null=True, related_name="+")

    class Meta:
        verbose_name = _("version")
        verbose_name_plural = _("versions")
        ordering = ["copilot", "-number"]
        constraints = [unique("version_number_unique", "copilot number")]

    def __str__(self) -> str:
        return f"{self.copilot.slug} v{self.number}"


class VersionProvider(Record):
    """An additional provider that a model picker of a version offers, under its name at that time."""

    version = models.ForeignKey(
        CopilotVersion, CASCADE, related_name="other_providers", db_index=False
    )
    name = models.CharField(max_length=100)
    provider = models.ForeignKey(Provider, PROTECT, related_name="+")

    class Meta:
        constraints = [unique("version_provider_name_unique", "version name")]


class RerouteApproval(Record):
    """A request to change the URL of a provider that live copilots use, valid for a day."""

    provider = models.ForeignKey(Provider, CASCADE, related_name="+")
    base_url = models.CharField(max_length=500)
    requested_by = models.ForeignKey(User, CASCADE, related_name="+")
    requested_at = models.DateTimeField(auto_now_add=True)
    approved_by = models.ForeignKey(User, SET_NULL, null=True, related_name="+")

    class Meta:
        default_permissions = ()


def new_token() -> str:
    return secrets.token_urlsafe(16)


class PendingImport(Record):
    """Parsed copilot files that wait for their uploader to confirm the import."""

    token = models.CharField(max_length=32, unique=True, default=new_token)
    user = models.OneToOneField(User, CASCADE, related_name="+")
    files: "models.Field[Any, Any]" = OrderedJsonField()  # [{"name": ..., "values": ...}]
    sent_at = models.DateTimeField(auto_now=True)

    class Meta:
        default_permissions = ()  # visible to its uploader only
