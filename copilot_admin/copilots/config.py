"""One description of a copilot, behind form, copilot file, version, comparison and agent."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, TypeAlias, cast

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from pydantic import Field, JsonValue
from pydantic_core import PydanticUndefined

from copilot_admin.agent.values.spec import (
    CALL_LIMITS,
    MAX_CALL_LIMIT,
    MAX_CLIENT_CALLS,
    MIN_DATA_TOKENS,
    CitationMode,
    WidgetDataMode,
)
from copilot_admin.copilots import config_choices as choices
from copilot_admin.copilots import config_types as types
from copilot_admin.copilots.config_choices import Option
from copilot_admin.copilots.config_records import (
    CallLimitEntry,
    ComponentEntry,
    CustomFeatureEntry,
    DataNoteEntry,
    FallbackEntry,
    ModelEntry,
    StepEntry,
    to_short_forms,
)
from copilot_admin.copilots.config_types import StoredRecord, to_stored, unique_by, without
from copilot_admin.models import Copilot, Logging
from copilot_admin.models.copilots import MAX_RETENTION_DAYS
from copilot_admin.redaction.expressions import expression_fault
from copilot_admin.redaction.rules import MAX_EXPRESSIONS

MAX_FALLBACKS = 5
Text: TypeAlias = str | Promise


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ConfigField:
    """Storage and display of a field of `CopilotConfig`.

    Key, type, label, help and default come from the model, whose order is that of the form.

    Attributes:
        column: Of `Copilot`, where it isn't the key.
        attribute: Of `Copilot`: the value as a version has it, where it isn't the column.
        is_versioned: Else it applies immediately and is part of no version.
        is_retention: Set by those who are responsible for stored data, not by builders.
        is_always_exported: Also where it has its default.
        input: The input of the form at which problems are shown, where it isn't the column.
        options: The values of a choice, or switches that are on or off.
        record: Type of the rows, of a list of records.
        compared_as: Label in a comparison, where it isn't the label of the form.
        to_file: Converts a stored value to that of a file.
    """

    key: str = ""
    record: type[StoredRecord] | None = None  # before `type`, which hides the built-in one
    type: Any = None
    label: Text = ""
    help: Text = ""
    default: Any = None
    is_required: bool = False
    column: str = ""
    attribute: str = ""
    is_versioned: bool = True
    is_retention: bool = False
    is_always_exported: bool = False
    input: str = ""
    options: tuple[Option, ...] = ()
    compared_as: Text = ""
    to_file: Callable[[Any], Any] | None = None

    def value_of(self, copilot: Copilot) -> Any:
        """Return the value in a draft, as a version has it."""
        return getattr(copilot, self.attribute)

    def set_value(self, copilot: Copilot, value: Any) -> None:
        """Set the value in a draft without saving it."""
        setattr(copilot, self.attribute, value)


_LIVE = ConfigField(is_versioned=False)
_PLAIN = ConfigField()
_EXPORTED = ConfigField(is_always_exported=True)
_RETENTION = ConfigField(is_versioned=False, is_retention=True)


def _rows(record: type[StoredRecord], **options: Any) -> ConfigField:
    return ConfigField(record=record, **options)


def _field(
    default: Any, label: Text, help: Text = "", *, by: Callable[[], Any] | None = None
) -> Any:
    title, description = cast("str", label), cast("str", help)  # translated when shown
    if by is not None:
        return Field(default_factory=by, title=title, description=description)
    return Field(default, title=title, description=description)


class CopilotConfig(types.Shape):
    """The configuration of a copilot: every key of its entry in a copilot file."""

    slug: Annotated[types.Slug, ConfigField(is_versioned=False, is_always_exported=True)] = _field(
        ...,
        _("URL name"),
        _("Leave blank to create it from the name. Cannot be changed after publishing."),
    )
    name: Annotated[types.Name, _EXPORTED] = _field(..., _("Name"), _("The name must be unique."))
    description: Annotated[types.Description, _EXPORTED] = _field(
        "", _("Description"), _("Shown to users when they start a chat.")
    )
    image: Annotated[
        types.Image,
        ConfigField(
            column="image_url", attribute="picture", input="image_url", compared_as=_("Image")
        ),
    ] = _field("", _("Image URL"), _("Ignored if you upload an image."))
    system_prompt: Annotated[types.Prompt, _PLAIN] = _field(
        "", _("Instructions"), _("Describe the copilot's role and how it should answer.")
    )
    provider: Annotated[
        types.Name, ConfigField(attribute="provider_name", is_always_exported=True)
    ] = _field(..., _("Provider"))
    model: Annotated[types.ModelId, _EXPORTED] = _field(
        ..., _("Model"), _("Model ID, for example gpt-4o.")
    )
    parameters: Annotated[
        dict[types.ParameterName, JsonValue], ConfigField(input="more_parameters")
    ] = _field({}, _("Parameters"))
    models: Annotated[
        list[ModelEntry],
        unique_by(_("model"), lambda row: row.id),
        _rows(ModelEntry, column="model_choices"),
    ] = _field(
        [],
        _("Model picker"),
        _("Models that users can choose in Workspace. Leave empty to hide the picker."),
    )
    fallbacks: Annotated[
        list[FallbackEntry], Field(max_length=MAX_FALLBACKS), _rows(FallbackEntry)
    ] = _field(
        [],
        _("Fallback models"),
        _("Tried in this order if a model fails before it starts to answer."),
    )
    features: Annotated[
        types.FeaturesEntry,
        ConfigField(
            attribute="all_features", options=choices.FEATURE_SWITCHES, is_always_exported=True
        ),
    ] = _field(types.FeaturesEntry(), _("Workspace features"))
    custom_features: Annotated[
        list[CustomFeatureEntry],
        unique_by(_("key"), lambda row: row.key),
        _rows(CustomFeatureEntry),
    ] = _field(
        [],
        _("Custom options"),
        _("Users set them in the chat settings. Use the values in your prompt."),
    )
    widget_data: Annotated[
        types.WidgetDataValue,
        ConfigField(
            options=choices.WIDGET_DATA, is_always_exported=True, compared_as=_("Widget data")
        ),
    ] = _field(WidgetDataMode.ASK.value, _("Read widgets"))
    tools: Annotated[types.Tools, _PLAIN] = _field([], _("Tools"))
    html_sources: Annotated[types.HtmlSources, _PLAIN] = _field(
        [],
        _("Allowed image hosts"),
        _(
            "Images in HTML may be loaded from these hosts, for example https://charts.example.com. "
            "Each host can see the image URL, which may contain data. Leave empty to allow "
            "embedded images only."
        ),
    )
    citations: Annotated[types.CitationValue, ConfigField(options=choices.CITATIONS)] = _field(
        CitationMode.WIDGETS.value, _("Citations")
    )
    images: Annotated[bool, ConfigField(column="sees_images")] = _field(
        False, _("Vision"), _("Send images to the model. Requires a vision model.")
    )
    read_links: Annotated[bool, _PLAIN] = _field(
        True,
        _("Read links"),
        _("Reads up to four links in a question. Private networks are blocked."),
    )
    components: Annotated[
        list[ComponentEntry],
        unique_by(_("component"), lambda row: row.name),
        ConfigField(to_file=to_short_forms),
    ] = _field([], _("Built-in tools"))
    stream_all_text: Annotated[bool, _PLAIN] = _field(
        False,
        _("Show tool results"),
        _(
            "Text that a built-in tool returns becomes part of the answer. When off, it is a step "
            "and the model rephrases it."
        ),
    )
    data: Annotated[list[DataNoteEntry], _rows(DataNoteEntry, column="data_notes")] = _field(
        [],
        _("Context data"),
        _("The model sees it with every question. Later entries override earlier ones."),
    )
    data_messages: Annotated[
        types.DataMessagesEntry,
        ConfigField(options=choices.DATA_MESSAGES, compared_as=_("Data messages")),
    ] = _field(types.DataMessagesEntry(), _("Sent as context data"))
    max_data_tokens: Annotated[Annotated[int, Field(ge=MIN_DATA_TOKENS)] | None, _PLAIN] = _field(
        None,
        _("Max data (tokens)"),
        _("More data is left out, with a notice. Leave blank for about 100,000."),
    )
    max_client_calls: Annotated[int, Field(ge=1, le=MAX_CALL_LIMIT), _PLAIN] = _field(
        MAX_CLIENT_CALLS,
        _("Max Workspace calls"),
        _("Calls for data, tools and dashboard changes per question."),
    )
    client_call_limits: Annotated[
        list[CallLimitEntry],
        unique_by(_("function"), lambda row: row.function),
        _rows(CallLimitEntry),
    ] = _field(
        None,
        _("Limits per function"),
        _("Calls of single functions per question. Others are unlimited."),
        by=lambda: [CallLimitEntry(function=one.function, most=one.most) for one in CALL_LIMITS],
    )
    show_steps: Annotated[bool, _PLAIN] = _field(
        True, _("Show steps"), _("Users see what the copilot does while it works.")
    )
    reasoning_steps: Annotated[bool, _PLAIN] = _field(
        False, _("Show reasoning"), _("Shows the model's reasoning as a step.")
    )
    steps: Annotated[list[StepEntry], _rows(StepEntry)] = _field(
        [], _("Fixed steps"), _("Shown with every answer, word for word.")
    )
    starters: Annotated[list[types.Line], _PLAIN] = _field(
        [], _("Starter questions"), _("Example questions for a new chat.")
    )
    enabled: Annotated[bool, ConfigField(is_versioned=False, is_always_exported=True)] = _field(
        True,
        _("Enabled"),
        _("When off, the copilot is hidden and does not answer. Takes effect immediately."),
    )
    access: Annotated[
        types.AccessValue | None,
        ConfigField(options=choices.ACCESS, is_versioned=False, is_always_exported=True),
    ] = _field(None, _("Access"))  # without a value, the import decides
    logging: Annotated[
        types.LoggingValue, ConfigField(options=choices.LOGGING, is_versioned=False)
    ] = _field(Logging.EVERYTHING.value, _("Logging"))
    limits: Annotated[types.LimitsEntry, _LIVE] = _field(types.LimitsEntry(), _("Usage limits"))
    tags: Annotated[types.Tags, _LIVE] = _field([], _("Tags"))
    retention_days: Annotated[
        Annotated[int, Field(ge=1, le=MAX_RETENTION_DAYS)] | None, _RETENTION
    ] = _field(None, _("Retention (days)"))
    redaction: Annotated[list[types.DataKindValue], unique_by(_("kind")), _RETENTION] = _field(
        [], _("Redacted data")
    )
    redacted_expressions: Annotated[
        list[Annotated[str, without(expression_fault)]],
        Field(max_length=MAX_EXPRESSIONS),
        unique_by(_("expression")),
        _RETENTION,
    ] = _field([], _("Redacted patterns"))


def _collect() -> tuple[ConfigField, ...]:
    found = []
    for key, info in CopilotConfig.model_fields.items():
        described = next(one for one in info.metadata if isinstance(one, ConfigField))
        column = described.column or key
        default = info.get_default(call_default_factory=True)
        found.append(
            replace(
                described,
                key=key,
                type=Annotated[info.annotation, *info.metadata],
                label=info.title or "",
                help=info.description or "",
                default=None if default is PydanticUndefined else to_stored(default),
                is_required=info.is_required(),
                column=column,
                attribute=described.attribute or column,
                input=described.input or column,
            )
        )
    return tuple(found)


CONFIG_FIELDS = _collect()
FIELDS_BY_KEY: Mapping[str, ConfigField] = {field.key: field for field in CONFIG_FIELDS}
VERSIONED_FIELDS = tuple(field for field in CONFIG_FIELDS if field.is_versioned)
LIVE_FIELDS = tuple(field for field in CONFIG_FIELDS if not field.is_versioned)
