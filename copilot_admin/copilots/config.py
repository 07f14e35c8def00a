"""One description of a copilot, behind form, copilot file, version, comparison and agent."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, get_args

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
from copilot_admin.copilots import config_types as types
from copilot_admin.copilots.config_records import (
    CallLimitEntry,
    ComponentEntry,
    CustomFeatureEntry,
    DataNoteEntry,
    FallbackEntry,
    ModelEntry,
    StepEntry,
)
from copilot_admin.copilots.config_types import (
    Option,
    StoredRecord,
    Text,
    labelled,
    to_stored,
    unique_by,
    without,
)
from copilot_admin.models import Copilot, Logging
from copilot_admin.models.copilots import MAX_RETENTION_DAYS
from copilot_admin.redaction.rules import MAX_EXPRESSIONS, expression_fault

MAX_FALLBACKS = 5


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ConfigField:
    """Storage and display of a field of `CopilotConfig`, in the order of the form."""

    # From the model.
    key: str = ""
    label: Text = ""
    help: Text = ""
    default: Any = None
    is_required: bool = False
    record: type[StoredRecord] | None = None  # of the rows, for a list of records
    # Given with the field.
    column: str = ""  # of `Copilot`, where it isn't the key
    attribute: str = ""  # of `Copilot`: the value as a version has it, where it isn't the column
    is_versioned: bool = True  # else it applies immediately and is part of no version
    is_retention: bool = False  # set by those who are responsible for stored data, not by builders
    is_always_exported: bool = False  # also where it has its default
    input: str = ""  # of the form, where problems are shown, if it isn't the column
    options: tuple[Option, ...] = ()  # values of a choice, or switches that are on or off
    compared_as: Text = ""  # label in a comparison, where it isn't that of the form

    def value_of(self, copilot: Copilot) -> Any:
        return getattr(copilot, self.attribute)

    def set_value(self, copilot: Copilot, value: Any) -> None:
        setattr(copilot, self.attribute, value)


def _field(default: Any, label: Text, help: Text = "", **options: Any) -> Any:
    return labelled(default, label, help, ConfigField(**options))


def _live(default: Any, label: Text, help: Text = "", **options: Any) -> Any:
    return _field(default, label, help, is_versioned=False, **options)


class CopilotConfig(types.Shape):
    """The configuration of a copilot: every key of its entry in a copilot file."""

    slug: types.Slug = _live(
        ...,
        _("URL name"),
        _("Leave blank to create it from the name. Cannot be changed after publishing."),
        is_always_exported=True,
    )
    name: types.Name = _field(
        ..., _("Name"), _("The name must be unique."), is_always_exported=True
    )
    description: types.Description = _field(
        "", _("Description"), _("Shown to users when they start a chat."), is_always_exported=True
    )
    image: types.Image = _field(
        "",
        _("Image URL"),
        _("Ignored if you upload an image."),
        column="image_url",
        attribute="picture",
        compared_as=_("Image"),
    )
    system_prompt: types.Prompt = _field(
        "", _("Instructions"), _("Describe the copilot's role and how it should answer.")
    )
    provider: types.Name = _field(
        ..., _("Provider"), attribute="provider_name", is_always_exported=True
    )
    model: types.ModelId = _field(
        ..., _("Model"), _("Model ID, for example gpt-4o."), is_always_exported=True
    )
    parameters: dict[types.ParameterName, JsonValue] = _field(
        {}, _("Parameters"), input="more_parameters"
    )
    models: Annotated[list[ModelEntry], unique_by(_("model"), lambda row: row.id)] = _field(
        [],
        _("Model picker"),
        _("Models that users can choose in Workspace. Leave empty to hide the picker."),
        column="model_choices",
    )
    fallbacks: Annotated[list[FallbackEntry], Field(max_length=MAX_FALLBACKS)] = _field(
        [],
        _("Fallback models"),
        _("Tried in this order if a model fails before it starts to answer."),
    )
    features: types.FeaturesEntry = _field(
        types.FeaturesEntry(),
        _("Workspace features"),
        attribute="all_features",
        options=types.FEATURE_SWITCHES,
        is_always_exported=True,
    )
    custom_features: Annotated[
        list[CustomFeatureEntry], unique_by(_("key"), lambda row: row.key)
    ] = _field(
        [],
        _("Custom options"),
        _("Users set them in the chat settings. Use the values in your prompt."),
    )
    widget_data: types.WidgetDataValue = _field(
        WidgetDataMode.ASK.value,
        _("Read widgets"),
        options=types.WIDGET_DATA,
        is_always_exported=True,
        compared_as=_("Widget data"),
    )
    tools: types.Tools = _field([], _("Tools"))
    html_sources: types.HtmlSources = _field(
        [],
        _("Allowed image hosts"),
        _(
            "Images in HTML may be loaded from these hosts, for example https://charts.example.com. "
            "Each host can see the image URL, which may contain data. Leave empty to allow "
            "embedded images only."
        ),
    )
    citations: types.CitationValue = _field(
        CitationMode.WIDGETS.value, _("Citations"), options=types.CITATIONS
    )
    images: bool = _field(
        False,
        _("Vision"),
        _("Send images to the model. Requires a vision model."),
        column="sees_images",
    )
    read_links: bool = _field(
        True,
        _("Read links"),
        _("Reads up to four links in a question. Private networks are blocked."),
    )
    components: Annotated[list[ComponentEntry], unique_by(_("component"), lambda row: row.name)] = (
        _field([], _("Built-in tools"))
    )
    stream_all_text: bool = _field(
        False,
        _("Show tool results"),
        _(
            "Text that a built-in tool returns becomes part of the answer. When off, it is a step "
            "and the model rephrases it."
        ),
    )
    data: list[DataNoteEntry] = _field(
        [],
        _("Context data"),
        _("The model sees it with every question. Later entries override earlier ones."),
        column="data_notes",
    )
    data_messages: types.DataMessagesEntry = _field(
        types.DataMessagesEntry(),
        _("Sent as context data"),
        options=types.DATA_MESSAGES,
        compared_as=_("Data messages"),
    )
    max_data_tokens: Annotated[int, Field(ge=MIN_DATA_TOKENS)] | None = _field(
        None,
        _("Max data (tokens)"),
        _("More data is left out, with a notice. Leave blank for about 100,000."),
    )
    max_client_calls: Annotated[int, Field(ge=1, le=MAX_CALL_LIMIT)] = _field(
        MAX_CLIENT_CALLS,
        _("Max Workspace calls"),
        _("Calls for data, tools and dashboard changes per question."),
    )
    client_call_limits: Annotated[
        list[CallLimitEntry], unique_by(_("function"), lambda row: row.function)
    ] = _field(
        [CallLimitEntry(function=one.function, most=one.most) for one in CALL_LIMITS],
        _("Limits per function"),
        _("Calls of single functions per question. Others are unlimited."),
    )
    show_steps: bool = _field(
        True, _("Show steps"), _("Users see what the copilot does while it works.")
    )
    reasoning_steps: bool = _field(
        False, _("Show reasoning"), _("Shows the model's reasoning as a step.")
    )
    steps: list[StepEntry] = _field(
        [], _("Fixed steps"), _("Shown with every answer, word for word.")
    )
    starters: list[types.Line] = _field(
        [], _("Starter questions"), _("Example questions for a new chat.")
    )
    enabled: bool = _live(
        True,
        _("Enabled"),
        _("When off, the copilot is hidden and does not answer. Takes effect immediately."),
        is_always_exported=True,
    )
    # Without a value, the import decides.
    access: types.AccessValue | None = _live(
        None, _("Access"), options=types.ACCESS, is_always_exported=True
    )
    logging: types.LoggingValue = _live(
        Logging.EVERYTHING.value, _("Logging"), options=types.LOGGING
    )
    limits: types.LimitsEntry = _live(types.LimitsEntry(), _("Usage limits"))
    tags: types.Tags = _live([], _("Tags"))
    retention_days: Annotated[int, Field(ge=1, le=MAX_RETENTION_DAYS)] | None = _live(
        None, _("Retention (days)"), is_retention=True
    )
    redaction: Annotated[list[types.DataKindValue], unique_by(_("kind"))] = _live(
        [], _("Redacted data"), is_retention=True
    )
    redacted_expressions: Annotated[
        list[Annotated[str, without(expression_fault)]],
        Field(max_length=MAX_EXPRESSIONS),
        unique_by(_("expression")),
    ] = _live([], _("Redacted patterns"), is_retention=True)


def _collect() -> tuple[ConfigField, ...]:
    found = []
    for key, info in CopilotConfig.model_fields.items():
        given = next(one for one in info.metadata if isinstance(one, ConfigField))
        column = given.column or key
        items = (one for one in get_args(info.annotation) if isinstance(one, type))
        found.append(
            replace(
                given,
                key=key,
                label=info.title or "",
                help=info.description or "",
                default=None if info.default is PydanticUndefined else to_stored(info.default),
                is_required=info.is_required(),
                record=next((one for one in items if issubclass(one, StoredRecord)), None),
                column=column,
                attribute=given.attribute or column,
                input=given.input or column,
            )
        )
    return tuple(found)


CONFIG_FIELDS = _collect()
FIELDS_BY_KEY: Mapping[str, ConfigField] = {field.key: field for field in CONFIG_FIELDS}
VERSIONED_FIELDS = tuple(field for field in CONFIG_FIELDS if field.is_versioned)
LIVE_FIELDS = tuple(field for field in CONFIG_FIELDS if not field.is_versioned)
