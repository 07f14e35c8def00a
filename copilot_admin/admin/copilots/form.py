"""The form in which a builder makes a copilot."""

from typing import Any, ClassVar

from django import forms
from django.core.files.base import File
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from copilot_admin.admin.common.component_words import first_sentence
from copilot_admin.admin.common.generics import CopilotModelForm
from copilot_admin.admin.common.rows import RowsField
from copilot_admin.admin.common.widgets import DatalistInput, DescribedRadio, Switches
from copilot_admin.admin.copilots.components_field import ComponentsField, pins_of
from copilot_admin.admin.copilots.data_rows import SCHEMA_BUTTON, DataNoteRow, with_schema
from copilot_admin.admin.copilots.edit_lock import EditLock
from copilot_admin.admin.copilots.model_lists import known_models
from copilot_admin.admin.copilots.prompt import PromptWidget
from copilot_admin.admin.copilots.rows import (
    CustomFeatureRow,
    ModelChoiceRow,
    ParameterRow,
    StarterRow,
    StepRow,
)
from copilot_admin.admin.copilots.words import (
    ACCESS,
    CITATIONS,
    DATA_MESSAGES,
    LOGGING,
    WIDGET_DATA,
)
from copilot_admin.copilots.switched_providers import missing, named_in
from copilot_admin.copilots.uploaded_images import MOST_BYTES, harmless_png
from copilot_admin.engine.llm.parameters import RESERVED_PARAMETERS
from copilot_admin.engine.tools.registry import find_tools, tool_names
from copilot_admin.engine.values.spec import CitationMode, DataMessagePolicy, WidgetDataMode
from copilot_admin.errors import ConfigurationError
from copilot_admin.models import Access, Copilot, Logging
from protocol.features import FEATURES

EFFORTS = ("minimal", "low", "medium", "high")
# Parameters with a field of their own, in the order of the form.
OWN_PARAMETERS = ("temperature", "max_tokens", "top_p", "reasoning_effort")


class CopilotForm(EditLock, CopilotModelForm):
    """Every field of a copilot's draft, and the switches that act at once."""

    upload = forms.FileField(
        label=_("Upload an image"),
        required=False,
        widget=forms.FileInput(attrs={"accept": "image/png,image/jpeg,image/webp"}),
        help_text=_("PNG, JPEG or WebP, 1 MB at most. Square looks best."),
    )
    remove_image = forms.BooleanField(label=_("Remove the uploaded image"), required=False)
    model_choices = RowsField(
        ModelChoiceRow,
        label=_("Model picker"),
        help_text=_("Models that people may choose from in Workspace. None: there is no picker."),
        add_label=_("Add a model"),
        unique="id",
    )
    temperature = forms.FloatField(
        label=_("Temperature"),
        required=False,
        min_value=0,
        max_value=2,
        help_text=_("0 is strict, 1 lively."),
        widget=forms.NumberInput(attrs={"step": "any"}),
    )
    max_tokens = forms.IntegerField(
        label=_("Longest answer"), required=False, min_value=1, help_text=_("In tokens.")
    )
    top_p = forms.FloatField(
        label=_("Top p"),
        required=False,
        min_value=0,
        max_value=1,
        help_text=_("Set this or the temperature, not both."),
        widget=forms.NumberInput(attrs={"step": "any"}),
    )
    reasoning_effort = forms.ChoiceField(
        label=_("Reasoning effort"),
        required=False,
        choices=[("", _("As the model likes")), *((value, value) for value in EFFORTS)],
        help_text=_("Only for models that reason."),
    )
    more_parameters = RowsField(
        ParameterRow,
        label=_("More parameters"),
        help_text=_("Sent to the provider as they are."),
        add_label=_("Add a parameter"),
        unique="name",
    )
    features = forms.MultipleChoiceField(
        label=_("Workspace features"),
        required=False,
        choices=[(feature.key, _(feature.label)) for feature in FEATURES],
        widget=Switches({feature.key: _(feature.help) for feature in FEATURES}),
    )
    custom_features = RowsField(
        CustomFeatureRow,
        label=_("Controls of your own"),
        help_text=_(
            "People find them in the settings of a chat. What they choose reaches your prompt."
        ),
        add_label=_("Add a control"),
        unique="key",
    )
    widget_data = forms.ChoiceField(
        label=_("When it reads widgets"),
        choices=[
            (WidgetDataMode.ASK.value, _("When the model asks")),
            (WidgetDataMode.FETCH.value, _("Always, before answering")),
            (WidgetDataMode.OFF.value, _("Never")),
        ],
        widget=DescribedRadio(WIDGET_DATA),
    )
    tools = forms.MultipleChoiceField(label=_("Tools"), required=False)
    components = ComponentsField(label=_("Components"), required=False)
    citations = forms.ChoiceField(
        label=_("Citations"),
        choices=[
            (CitationMode.WIDGETS.value, _("Widgets")),
            (CitationMode.DOCUMENTS.value, _("Widgets and places in documents")),
            (CitationMode.OFF.value, _("None")),
        ],
        widget=DescribedRadio(CITATIONS),
    )
    data_notes = RowsField(
        DataNoteRow,
        label=_("Data notes"),
        help_text=_("The model sees them with every question. Later notes win over earlier ones."),
        add_label=_("Add a data note"),
        blank_rows=1,
    )
    data_messages = forms.MultipleChoiceField(
        label=_("Sent as data notes"),
        required=False,
        choices=[(name, label) for name, (label, _help) in DATA_MESSAGES.items()],
        widget=Switches({name: text for name, (_label, text) in DATA_MESSAGES.items()}),
    )
    steps = RowsField(
        StepRow,
        label=_("Fixed steps"),
        help_text=_("Shown with every answer, word for word."),
        add_label=_("Add a step"),
    )
    starters = RowsField(
        StarterRow,
        label=_("Starter questions"),
        help_text=_("Good first questions, for people who try the copilot."),
        add_label=_("Add a question"),
    )
    access = forms.ChoiceField(
        label=_("Who may ask"),
        choices=[(Access.KEY.value, _("Callers with a key")), (Access.OPEN.value, _("Everybody"))],
        widget=DescribedRadio(ACCESS),
    )
    logging = forms.ChoiceField(
        label=_("What is kept"),
        choices=[
            (Logging.EVERYTHING.value, _("Everything")),
            (Logging.METADATA.value, _("Metadata")),
            (Logging.NOTHING.value, _("Nothing")),
        ],
        widget=DescribedRadio(LOGGING),
    )

    class Meta:
        model = Copilot
        fields: ClassVar[list[str]] = [
            "name",
            "slug",
            "description",
            "image_url",
            "system_prompt",
            "provider",
            "model",
            "widget_data",
            "citations",
            "sees_images",
            "show_steps",
            "reasoning_steps",
            "max_data_tokens",
            "stream_all_text",
            "enabled",
            "access",
            "logging",
        ]
        widgets: ClassVar[dict[str, forms.Widget]] = {
            "description": forms.Textarea(attrs={"rows": 3}),
            "system_prompt": PromptWidget(),
            "model": DatalistInput(),
            "image_url": forms.TextInput(attrs={"inputmode": "url"}),
        }
        help_texts: ClassVar[dict[str, str | Promise]] = {
            "name": _("What people see in Workspace. No two copilots share a name."),
            "slug": _("Part of the address that Workspace calls. Fixed once published."),
            "description": _("The welcome text of an empty chat."),
            "image_url": _(
                "The address of a picture on the web, which is fetched once when you save. An "
                "uploaded image goes first."
            ),
            "system_prompt": _("Who the copilot is and how it answers."),
            "model": _("The id that the provider knows the model by."),
            "sees_images": _(
                "Pictures of widgets and attached ones are shown to the model. Only for models that "
                "can see: others may refuse the question. Off: the model is told of them in words."
            ),
            "show_steps": _("People see what the copilot does while it works."),
            "stream_all_text": _(
                "Text that a component gives to people and model is part of the answer. Off: it is "
                "a step, and the model says it in its own words."
            ),
            "reasoning_steps": _("The reasoning text of the model is one of the steps."),
            "max_data_tokens": _(
                "Tokens of data that a question may bring; the rest is left out, with a notice. "
                "Empty: about 100,000."
            ),
            "enabled": _("Off: it answers nobody and is in no list. Acts at once."),
        }
        labels: ClassVar[dict[str, str | Promise]] = {
            "image_url": _("Image address"),
            "enabled": _("Switched on"),
            "sees_images": _("Look at images"),
            "show_steps": _("Show steps"),
            "stream_all_text": _("Show results of components"),
            "reasoning_steps": _("Show reasoning"),
            "max_data_tokens": _("Most data"),
        }

    def __init__(self, data: QueryDict | None = None, *args: Any, **kwargs: Any) -> None:
        self.makes_schema = data is not None and SCHEMA_BUTTON in data
        sent = with_schema(data) if data is not None and self.makes_schema else data
        super().__init__(sent, *args, **kwargs)
        if not self.instance.image:
            del self.fields["remove_image"]
        self.initial = {**self.initial, **_initial_of(self.instance)}
        self.png: bytes | None = None
        self.stored_address = self.instance.image_url  # validation puts the typed one there
        self._offer_tools()
        self._offer_components()
        if "slug" in self.fields and self.instance.live_id:
            self.fields["slug"].disabled = True
        self._offer_models()

    def is_valid(self) -> bool:
        """Whether the draft can be saved: who asked for a schema looks at it first."""
        return super().is_valid() and not self.makes_schema

    def clean_name(self) -> str:
        """Refuses a name that another copilot has; Workspace refuses two of one name."""
        name: str = self.cleaned_data["name"].strip()
        if Copilot.objects.exclude(pk=self.instance.pk).filter(name__iexact=name).exists():
            raise forms.ValidationError(_("Another copilot has this name. Choose another."))
        return name

    def clean_image_url(self) -> str:
        """Accepts what a browser can load from Workspace's pages."""
        url: str = self.cleaned_data["image_url"].strip()
        if url and not url.startswith(("https://", "http://")):
            raise forms.ValidationError(
                _("Write the whole address, beginning with https:// — or upload the image.")
            )
        return url

    def clean_upload(self) -> "File[bytes] | None":
        """Decodes the picture and writes it anew; `png` then holds it."""
        upload: File[bytes] | None = self.cleaned_data["upload"]
        if upload is not None:
            try:
                # One byte more than allowed tells too big from just right, however big it is.
                self.png = harmless_png(upload.read(MOST_BYTES + 1))
            except ConfigurationError as error:
                raise forms.ValidationError(error.public) from error
        return upload

    def clean_features(self) -> dict[str, bool]:
        """Only what differs from the defaults is stored."""
        chosen = self.cleaned_data["features"]
        return {
            feature.key: feature.key in chosen
            for feature in FEATURES
            if (feature.key in chosen) is not feature.default
        }

    def clean_data_messages(self) -> dict[str, bool]:
        """Only what differs from the defaults is stored."""
        chosen = self.cleaned_data["data_messages"]
        return {
            name: name in chosen
            for name in DATA_MESSAGES
            if (name in chosen) is not _by_default(name)
        }

    def clean_custom_features(self) -> list[dict[str, Any]]:
        """Refuses a provider that there is not; the names are asked for once."""
        rows: list[dict[str, Any]] = self.cleaned_data["custom_features"]
        for name in missing(named_in(rows)):
            raise forms.ValidationError(
                _("There is no provider named “%(name)s”."), params={"name": name}
            )
        return rows

    def clean_starters(self) -> list[str]:
        """The starters as a list of questions, without the rows around them."""
        return [row["text"] for row in self.cleaned_data["starters"]]

    def clean(self) -> dict[str, Any]:
        """Puts the parameters together and looks at what depends on two fields."""
        values: dict[str, Any] = super().clean() or self.cleaned_data
        for row in values.get("more_parameters", []):
            if row["name"] in OWN_PARAMETERS:
                self.add_error(
                    "more_parameters",
                    _("“%(name)s” has a field of its own above.") % {"name": row["name"]},
                )
            if row["name"] in RESERVED_PARAMETERS:
                self.add_error(
                    "more_parameters",
                    _("“%(name)s” is set by the server. Take it out.") % {"name": row["name"]},
                )
        return values

    def save(self, commit: bool = True) -> Copilot:
        """Puts the fields that the model knows under other names into the draft."""
        values, copilot = self.cleaned_data, self.instance
        copilot.parameters = {
            **{key: values[key] for key in OWN_PARAMETERS if values.get(key) not in (None, "")},
            **{row["name"]: row["value"] for row in values["more_parameters"]},
        }
        for name in (
            "features",
            "tools",
            "components",
            "model_choices",
            "custom_features",
            "steps",
            "starters",
            "data_notes",
            "data_messages",
        ):
            setattr(copilot, name, values[name])
        if values.get("remove_image"):
            copilot.image = ""
        return super().save(commit=commit)

    def _offer_tools(self) -> None:
        tools = find_tools(tool_names())
        field = self.fields["tools"]
        # The first sentence says what it does; those after it are for the model.
        helps = {tool.schema.name: first_sentence(tool.schema.description) for tool in tools}
        field.widget = Switches(helps)
        field.choices = [  # type: ignore[attr-defined]  # it is a MultipleChoiceField
            (name, gettext(name.capitalize())) for name in helps
        ]

    def _offer_components(self) -> None:
        field = self.fields["components"]
        if isinstance(field, ComponentsField):
            field.offer(self.instance.components)

    def _offer_models(self) -> None:
        provider = self["provider"].value() if "provider" in self.fields else None
        widget = self.fields["model"].widget if "model" in self.fields else None
        if isinstance(widget, DatalistInput):
            widget.suggestions = known_models(provider)


def _by_default(name: str) -> bool:
    return getattr(DataMessagePolicy(), name) is True


def _initial_of(copilot: Copilot) -> dict[str, Any]:
    """The values of the fields that are stored in another form."""
    own = {key: copilot.parameters[key] for key in OWN_PARAMETERS if key in copilot.parameters}
    rest = {key: value for key, value in copilot.parameters.items() if key not in own}
    return {
        **own,
        "more_parameters": [{"name": key, "value": value} for key, value in rest.items()],
        "features": [
            feature.key
            for feature in FEATURES
            if copilot.features.get(feature.key, feature.default)
        ],
        "tools": copilot.tools,
        "components": pins_of(copilot.components),
        "model_choices": copilot.model_choices,
        "custom_features": copilot.custom_features,
        "data_notes": copilot.data_notes,
        "data_messages": [
            name for name in DATA_MESSAGES if copilot.data_messages.get(name, _by_default(name))
        ],
        "steps": copilot.steps,
        "starters": [{"text": text} for text in copilot.starters],
        "widget_data": copilot.widget_data,
        "citations": copilot.citations,
        "access": copilot.access,
        "logging": copilot.logging,
    }
