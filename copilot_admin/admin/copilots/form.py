"""Form of the Build page: the whole draft of a copilot."""

from contextlib import suppress
from typing import Any, ClassVar, cast

from django import forms
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.core.files.base import File
from django.core.signing import BadSignature, Signer
from django.core.validators import MaxLengthValidator
from django.forms import ModelForm
from django.http import QueryDict
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from copilot_admin.admin.common.rows import RowsField
from copilot_admin.admin.common.widgets import with_plain_newlines
from copilot_admin.admin.copilots.fields import (
    ComponentsField,
    OneOfField,
    SwitchesField,
    TextsField,
    area,
)
from copilot_admin.admin.copilots.rows import (
    CallLimitRow,
    CustomFeatureRow,
    DataNoteRow,
    FallbackRow,
    ModelChoiceRow,
    ParameterRow,
    StepRow,
)
from copilot_admin.agent.files.pictures import MAX_ICON_PIXELS
from copilot_admin.agent.llm.model_choice import RESERVED_PARAMETERS
from copilot_admin.agent.tools.registry import find_tools, tool_names
from copilot_admin.copilots.comparison import is_equivalent
from copilot_admin.copilots.config import CONFIG_FIELDS, VERSIONED_FIELDS
from copilot_admin.copilots.config_types import (
    CITATIONS,
    DATA_MESSAGES,
    FEATURE_SWITCHES,
    MAX_DESCRIPTION_LENGTH,
    MAX_PROMPT_LENGTH,
    WIDGET_DATA,
    html_source_fault,
)
from copilot_admin.copilots.images import MAX_BYTES, harmless_png, store_picture
from copilot_admin.copilots.names import free_slug, slug_of
from copilot_admin.copilots.other_providers import find_missing, names_in_rows
from copilot_admin.errors import ConfigurationError
from copilot_admin.models import Copilot

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")
# Parameters with a field of their own, in the order of the form.
OWN_PARAMETERS = ("temperature", "max_tokens", "top_p", "reasoning_effort")
# Switched on in a new copilot; the features can be told apart by their keys.
NEW_FEATURES = (
    "widget-dashboard-select",
    "widget-dashboard-search",
    "prompt-suggestions",
    "feedback",
)
NEW_TOOLS = ("chart", "table")
# Columns that the form sets itself.
_CONVERTED = (
    *("model_choices", "fallbacks", "features", "custom_features", "widget_data", "tools"),
    *("html_sources", "citations", "components", "data_notes", "data_messages"),
    *("client_call_limits", "steps", "starters"),
)
_SIGNER = Signer(salt="pending-image")
_PENDING = "pending_image"


class CopilotForm(ModelForm[Copilot]):
    """The draft of a copilot; labels and help come from its configuration."""

    editor: ClassVar[User | None] = None  # the user who opened the page

    upload = forms.FileField(
        label=_("Picture"),
        required=False,
        widget=forms.FileInput(
            attrs={
                "class": "ca-sr",
                "accept": "image/png,image/jpeg,image/webp",
                "data-max-bytes": MAX_BYTES,
                "data-max-pixels": MAX_ICON_PIXELS,
                "data-too-large": _("The image is larger than 1 MB. Choose a smaller one."),
                "data-too-many": _("The image has more than 4 million pixels. Scale it down."),
                "data-other-kind": _("The file is not a PNG, JPEG or WebP image."),
            }
        ),
        help_text=_("PNG, JPEG or WebP, square, up to 1 MB"),
    )
    pending_image = forms.CharField(required=False, widget=forms.HiddenInput)
    remove_image = forms.BooleanField(label=_("Remove the picture"), required=False)
    seen = forms.CharField(required=False, widget=forms.HiddenInput)
    temperature = forms.FloatField(
        label=_("Temperature"),
        required=False,
        min_value=0,
        max_value=2,
        help_text=_("0 = precise, 1 = creative."),
    )
    max_tokens = forms.IntegerField(
        label=_("Max output tokens"),
        required=False,
        min_value=1,
        help_text=_("Longer answers are cut off."),
    )
    top_p = forms.FloatField(
        label=_("Top p"),
        min_value=0,
        max_value=1,
        required=False,
        help_text=_("Set this or the temperature, not both."),
    )
    reasoning_effort = forms.ChoiceField(
        label=_("Reasoning effort"),
        required=False,
        choices=[("", _("Default")), *((value, value) for value in EFFORTS)],
        help_text=_("For reasoning models only."),
    )
    more_parameters = RowsField(
        ParameterRow,
        label=_("More parameters"),
        help_text=_("Sent to the provider unchanged."),
        add_label=_("Add parameter"),
        unique="name",
    )
    model_choices = RowsField(ModelChoiceRow, add_label=_("Add model"), unique="id")
    fallbacks = RowsField(FallbackRow, add_label=_("Add fallback"))
    features = SwitchesField(FEATURE_SWITCHES)
    custom_features = RowsField(CustomFeatureRow, add_label=_("Add option"), unique="key")
    widget_data = OneOfField(WIDGET_DATA)
    tools = forms.MultipleChoiceField(required=False)
    html_sources = TextsField(
        noun=_("host"),
        row_label=_("Host"),
        add_label=_("Add host"),
        max_length=200,
        find_fault=html_source_fault,
        unique="text",
    )
    citations = OneOfField(CITATIONS)
    components = ComponentsField(required=False)
    data_notes = RowsField(DataNoteRow, add_label=_("Add context data"))
    data_messages = SwitchesField(DATA_MESSAGES)
    client_call_limits = RowsField(CallLimitRow, add_label=_("Add limit"), unique="function")
    steps = RowsField(StepRow, add_label=_("Add step"))
    starters = TextsField(
        noun=_("question"), row_label=_("Question"), add_label=_("Add question"), max_length=500
    )

    class Meta:
        model = Copilot
        fields = (
            *("name", "slug", "description", "system_prompt", "provider", "model", "image_url"),
            *("sees_images", "read_links", "show_steps", "reasoning_steps", "stream_all_text"),
            *("max_data_tokens", "max_client_calls"),
        )
        widgets: ClassVar[dict[str, forms.Widget]] = {
            "description": area(2, **{"class": "ca-input", "dir": "auto"}),
            "image_url": forms.TextInput({"class": "ca-input", "inputmode": "url"}),
            "system_prompt": area(12, **{"spellcheck": "true", "class": "ca-prompt__text"}),
            "model": forms.TextInput(
                {"class": "ca-input", "autocomplete": "off", "spellcheck": "false"}
            ),
        }

    def __init__(self, data: QueryDict | None = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(None if data is None else with_plain_newlines(data), *args, **kwargs)
        self.png: bytes | None = None  # the uploaded image, once it was decoded
        self.stored_address = self.instance.image_url  # validation overwrites the instance
        if not self.instance.image:
            del self.fields["remove_image"]
        given = {} if self.instance.pk else self.initial  # a link to the page may set a model
        chosen = {name: given[name] for name in ("provider", "model") if given.get(name)}
        self.initial = {**self.initial, **_build_initial(self.instance), **chosen}
        self.initial["seen"] = self._stored_stamp()
        self._offer_choices()
        for described in CONFIG_FIELDS:
            if (field := self.fields.get(described.column)) is not None:
                field.label, field.help_text = described.label, described.help  # type: ignore[assignment]  # translated when shown
        if "system_prompt" not in self.fields:  # the user may only look
            return
        limits = {"system_prompt": MAX_PROMPT_LENGTH, "description": MAX_DESCRIPTION_LENGTH}
        for name, limit in limits.items():
            cast(forms.CharField, self.fields[name]).strip = False
            self.fields[name].validators.append(MaxLengthValidator(limit))
        self.fields["slug"].disabled = bool(self.instance.live_id)
        self.fields["slug"].required = False
        messages = self.fields["provider"].error_messages
        messages["invalid_choice"] = _("This provider was deleted. Choose another one.")
        messages["required"] = _("Choose a model.")

    def clean_name(self) -> str:
        """Reject the name of another copilot; Workspace rejects duplicates."""
        name: str = self.cleaned_data["name"].strip()
        if Copilot.objects.exclude(pk=self.instance.pk).filter(name__iexact=name).exists():
            raise forms.ValidationError(_("Another copilot has this name. Choose another one."))
        return name

    def clean_slug(self) -> str:
        """Create the slug from the name if none was entered."""
        name = self.cleaned_data.get("name", "")
        return self.cleaned_data["slug"] or (free_slug(slug_of(name)) if name else "")

    def clean_image_url(self) -> str:
        """Accept what a browser can load from Workspace's pages."""
        url: str = self.cleaned_data["image_url"].strip()
        if url and not url.startswith(("https://", "http://")):
            text = _("Enter the full URL, starting with https://, or upload the image.")
            raise forms.ValidationError(text)
        return url

    def clean_upload(self) -> "File[bytes] | None":
        """Decode the picture; `png` is the result."""
        upload: File[bytes] | None = self.cleaned_data["upload"]
        if upload is not None:
            try:
                self.png = harmless_png(upload.read())  # the body limit bounds its size
            except ConfigurationError as error:
                raise forms.ValidationError(error.public) from error
        return upload

    def clean_reasoning_effort(self) -> Any:
        """Keep a value that isn't text, which a select can't send."""
        effort = self.cleaned_data["reasoning_effort"]
        stored = self.instance.parameters.get("reasoning_effort")
        return stored if effort == str(stored) else effort

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or self.cleaned_data
        for row in values.get("more_parameters", []):
            if row["name"] in OWN_PARAMETERS:
                text = _("“%(name)s” has a field of its own above.")
                self.add_error("more_parameters", text % {"name": row["name"]})
            if row["name"] in RESERVED_PARAMETERS:
                text = _("“%(name)s” is set by the server. Remove it.")
                self.add_error("more_parameters", text % {"name": row["name"]})
        for name in ("custom_features", "fallbacks"):
            for missing in find_missing(names_in_rows(values.get(name, []))):
                text = _("No provider is named “%(name)s”.")
                self.add_error(name, text % {"name": missing})
        seen, stored = values.get("seen", ""), self._stored_stamp(lock=True)
        if self.instance.pk and seen and stored and seen != stored:
            self._set_data("seen", stored)
            raise forms.ValidationError(self._describe_conflict(), code="edited")
        return values

    def save(self, commit: bool = True) -> Copilot:
        values, copilot = self.cleaned_data, self.instance
        copilot.parameters = {
            **{key: values[key] for key in OWN_PARAMETERS if values.get(key) not in (None, "")},
            **{row["name"]: row["value"] for row in values["more_parameters"]},
        }
        for name in _CONVERTED:
            setattr(copilot, name, values[name])
        if copilot.pk:
            self._restore_untouched()
        if values.get("remove_image"):
            copilot.image = ""
        if self.png is not None:
            copilot.image = store_picture(self.png)
        elif name := self.pending_name:
            copilot.image = name
        return super().save(commit=commit)

    def _restore_untouched(self) -> None:
        """Put back stored values that differ from the sent ones only by what a form can't show."""
        stored = Copilot.objects.select_related("provider").get(pk=self.instance.pk)
        for field in VERSIONED_FIELDS:
            before, after = field.value_of(stored), field.value_of(self.instance)
            if field.key not in ("provider", "image") and is_equivalent(field.key, before, after):
                field.set_value(self.instance, before)

    def keep_upload(self) -> None:
        """Store an uploaded image whose form was rejected, so that the next save has it.

        The sweep of unused images deletes it if there is none.
        """
        if self.png is not None:
            self._set_data(_PENDING, _SIGNER.sign(store_picture(self.png)))

    @property
    def pending_name(self) -> str:
        """Name in the storage of an image that was uploaded with a rejected form."""
        with suppress(BadSignature):
            return _SIGNER.unsign(str(self[_PENDING].value() or ""))
        return ""

    def _stored_stamp(self, *, lock: bool = False) -> str:
        """Return the time of the last save, by which the form notices another editor."""
        rows = Copilot.objects.filter(pk=self.instance.pk)
        if lock:
            rows = rows.select_for_update(no_key=True)
        moment = rows.values_list("updated_at", flat=True).first() if self.instance.pk else None
        return moment.isoformat() if moment else ""

    def _set_data(self, name: str, value: str) -> None:
        self.data = self.data.copy()  # type: ignore[attr-defined]  # a QueryDict
        self.data[self.add_prefix(name)] = value  # type: ignore[index]  # as above

    def _describe_conflict(self) -> str:
        content_type = ContentType.objects.get_for_model(self.instance)
        entries = LogEntry.objects.filter(content_type=content_type, object_id=self.instance.pk)
        entry = entries.select_related("user").order_by("-action_time").first()
        if entry and entry.user == self.editor:
            return gettext(
                "You saved this copilot in another tab. Your changes here are not saved. Save again "
                "to overwrite it."
            )
        return gettext(
            "%(user)s saved this copilot while you were editing. Your changes are not saved. Open "
            "the page in another tab to see theirs, or save again to overwrite them."
        ) % {"user": entry.user.get_username() if entry else gettext("Someone else")}

    def _offer_choices(self) -> None:
        schemas = [tool.schema for tool in find_tools(tool_names())]
        names = [
            (schema.name, "HTML" if schema.name == "html" else gettext(schema.name.capitalize()))
            for schema in schemas
        ]
        self.fields["tools"].choices = names  # type: ignore[attr-defined]  # a MultipleChoiceField
        # The first sentence is for people, those after it are for the model.
        self.tool_help = {
            schema.name: schema.description.partition(". ")[0].rstrip(".") + "."
            for schema in schemas
        }
        cast(ComponentsField, self.fields["components"]).offer(self.instance.components)
        stored = str(self.instance.parameters.get("reasoning_effort", ""))
        if stored not in ("", *EFFORTS):  # an imported file may have any
            effort = cast(forms.ChoiceField, self.fields["reasoning_effort"])
            effort.choices = [*cast("list[tuple[str, str]]", effort.choices), (stored, stored)]


def _build_initial(copilot: Copilot) -> dict[str, Any]:
    own = {key: copilot.parameters[key] for key in OWN_PARAMETERS if key in copilot.parameters}
    rest = {key: value for key, value in copilot.parameters.items() if key not in own}
    initial = {name: getattr(copilot, name) for name in _CONVERTED}
    for name, field in CopilotForm.base_fields.items():
        if isinstance(field, SwitchesField | TextsField | ComponentsField):
            initial[name] = field.to_input(initial[name])
    if not copilot.pk and not copilot.features and not copilot.tools:
        initial |= {"features": list(NEW_FEATURES), "tools": list(NEW_TOOLS)}
    parameters = [{"name": key, "value": value} for key, value in rest.items()]
    return {**own, "more_parameters": parameters, **initial}
