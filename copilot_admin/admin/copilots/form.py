"""The form in which a builder makes a copilot."""

from typing import Any, ClassVar, cast

from django import forms
from django.core.files.base import File
from django.forms import ModelForm
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.text import capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from copilot_admin.admin.common.form_fields import unturned, with_plain_newlines
from copilot_admin.admin.common.rows import RowsField
from copilot_admin.admin.common.widgets import DatalistInput, SwitchesWidget
from copilot_admin.admin.components.descriptions import first_sentence
from copilot_admin.admin.copilots.components_field import ComponentsField
from copilot_admin.admin.copilots.data_rows import SCHEMA_BUTTON, with_schema
from copilot_admin.admin.copilots.draft_inputs import (
    AT_ONCE,
    help_texts,
    inputs_of_the_table,
    labels,
    plain_columns,
    shown,
    widgets,
)
from copilot_admin.admin.copilots.edit_lock import EditLock
from copilot_admin.admin.copilots.rows import ParameterRow
from copilot_admin.admin.copilots.version_image import VersionImage
from copilot_admin.agent.files.pictures import MAX_ICON_PIXELS
from copilot_admin.agent.llm.model_choice import RESERVED_PARAMETERS
from copilot_admin.agent.tools.registry import find_tools, tool_names
from copilot_admin.copilots.config_types import (
    MAX_DESCRIPTION_LENGTH,
    MAX_PROMPT_LENGTH,
    length_fault,
)
from copilot_admin.copilots.model_lists import known_models
from copilot_admin.copilots.other_providers import find_missing, names_in_rows
from copilot_admin.copilots.slugs import free_slug, slug_of
from copilot_admin.copilots.uploaded_images import MOST_BYTES, harmless_png
from copilot_admin.errors import ConfigurationError
from copilot_admin.models import Copilot

LOOK = "_look"  # sent with what a browser kept of somebody's typing: it is shown, not saved
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")
# Parameters with a field of their own, in the order of the form.
OWN_PARAMETERS = ("temperature", "max_tokens", "top_p", "reasoning_effort")


NO_SUCH_PROVIDER = _("This provider is not there any more. Choose another.")


class TableInputs:
    """What the table of draft fields adds to the form: Django takes a mixin's fields over."""

    declared_fields: ClassVar[dict[str, forms.Field]] = inputs_of_the_table()


class CopilotForm(TableInputs, EditLock, VersionImage, ModelForm[Copilot]):
    """Every field of a copilot's draft; of a new one also the switches that act at once.

    Written out here are the inputs of which several make one field of the draft.
    """

    upload = forms.FileField(
        label=_("Upload an image"),
        required=False,
        widget=forms.FileInput(
            attrs={
                "accept": "image/png,image/jpeg,image/webp",
                # Said by the page before anything is sent (`image-check.js`).
                "data-most": MOST_BYTES,
                "data-most-pixels": MAX_ICON_PIXELS,
                "data-too-large": _("This image has more than 1 MB. Choose a smaller one."),
                "data-too-many": _(
                    "This image has more than 4 million pixels. Choose a smaller one."
                ),
                "data-other-kind": _("This is no PNG, JPEG or WebP file. Choose another."),
            }
        ),
        help_text=_("PNG, JPEG or WebP, 1 MB at most. Square looks best."),
    )
    remove_image = forms.BooleanField(label=_("Remove the uploaded image"), required=False)
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

    class Meta:
        model = Copilot
        fields: ClassVar[list[str]] = plain_columns()
        widgets: ClassVar[dict[str, forms.Widget]] = widgets()
        help_texts: ClassVar[dict[str, str | Promise]] = help_texts()
        labels: ClassVar[dict[str, str | Promise]] = labels()

    def __init__(self, data: QueryDict | None = None, *args: Any, **kwargs: Any) -> None:
        data = None if data is None else with_plain_newlines(data)
        makes_schema = data is not None and SCHEMA_BUTTON in data
        self.is_only_shown = makes_schema or (data is not None and LOOK in data)
        sent = with_schema(data) if data is not None and makes_schema else data
        super().__init__(sent, *args, **kwargs)
        if not self.instance.image:
            del self.fields["remove_image"]
        for name in AT_ONCE if self.instance.pk else ():
            self.fields.pop(name, None)  # they have a panel of their own, and act at once
        self.initial = {**self.initial, **_initial_of(self.instance)}
        self.png: bytes | None = None
        self.stored_address = self.instance.image_url  # validation puts the typed one there
        self._offer_tools()
        self._offer_components()
        self._offer_effort()
        if "slug" in self.fields:
            self.fields["slug"].disabled = bool(self.instance.live_id)
            self.fields["slug"].required = bool(self.instance.pk)
        self._offer_models()
        if "provider" in self.fields:  # somebody deleted it while it was chosen here
            self.fields["provider"].error_messages["invalid_choice"] = NO_SUCH_PROVIDER

    def is_valid(self) -> bool:
        return super().is_valid() and not self.is_only_shown

    def clean_name(self) -> str:
        """Refuses a name that another copilot has; Workspace refuses two of one name."""
        name: str = self.cleaned_data["name"].strip()
        if Copilot.objects.exclude(pk=self.instance.pk).filter(name__iexact=name).exists():
            raise forms.ValidationError(_("Another copilot has this name. Choose another."))
        return unturned(name)

    def clean_slug(self) -> str:
        """Makes the slug of the name where nobody wrote one."""
        name = self.cleaned_data.get("name", "")
        return self.cleaned_data["slug"] or (free_slug(slug_of(name)) if name else "")

    def clean_description(self) -> str:
        """Refuses what shows another text than it is, and what nobody reads as a whole."""
        text: str = self.cleaned_data["description"]
        if wrong := length_fault(text, MAX_DESCRIPTION_LENGTH):
            raise forms.ValidationError(capfirst(wrong))
        return unturned(text)

    def clean_system_prompt(self) -> str:
        """Refuses what no model reads as a whole."""
        text: str = self.cleaned_data["system_prompt"]
        if wrong := length_fault(text, MAX_PROMPT_LENGTH):
            raise forms.ValidationError(capfirst(wrong))
        return unturned(text)

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
                self.png = harmless_png(upload.read())  # the body limit bounds its size
            except ConfigurationError as error:
                raise forms.ValidationError(error.public) from error
        return upload

    def clean_reasoning_effort(self) -> Any:
        """Keep a value that isn't text, which a select can't send."""
        effort = self.cleaned_data["reasoning_effort"]
        stored = self.instance.parameters.get("reasoning_effort")
        return stored if effort == str(stored) else effort

    def clean_custom_features(self) -> list[dict[str, Any]]:
        return self._with_known_providers("custom_features")

    def clean_fallbacks(self) -> list[dict[str, Any]]:
        return self._with_known_providers("fallbacks")

    def _with_known_providers(self, name: str) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.cleaned_data[name]
        for missing in find_missing(names_in_rows(rows)):
            raise forms.ValidationError(
                _("There is no provider named “%(name)s”."), params={"name": missing}
            )
        return rows

    def clean(self) -> dict[str, Any]:
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
        return {name: self._as_before(name, value) for name, value in values.items()}

    def _as_before(self, name: str, value: Any) -> Any:
        """A text that nobody changed, with the blanks around it that fields of forms take off.

        A prompt from a file ends with a line's end: saved without it, it would count as changed,
        with nothing to see.
        """
        before = self.initial.get(name)
        is_same = isinstance(value, str) and isinstance(before, str) and value == before.strip()
        return before if is_same else value

    def save(self, commit: bool = True) -> Copilot:
        values, copilot = self.cleaned_data, self.instance
        copilot.parameters = {
            **{key: values[key] for key in OWN_PARAMETERS if values.get(key) not in (None, "")},
            **{row["name"]: row["value"] for row in values["more_parameters"]},
        }
        for name in TableInputs.declared_fields.keys() & values.keys():
            setattr(copilot, name, values[name])
        self.take_image()
        if values.get("remove_image"):
            copilot.image = ""
        return super().save(commit=commit)

    def _offer_tools(self) -> None:
        tools = find_tools(tool_names())
        field = self.fields["tools"]
        # The first sentence says what it does; those after it are for the model.
        helps = {tool.schema.name: first_sentence(tool.schema.description) for tool in tools}
        field.widget = SwitchesWidget(helps)
        field.choices = [  # type: ignore[attr-defined]  # it is a MultipleChoiceField
            (name, gettext(name.capitalize())) for name in helps
        ]

    def _offer_effort(self) -> None:
        """Offer the draft's own value: a file may have any."""
        stored = str(self.instance.parameters.get("reasoning_effort", ""))
        field = cast(forms.ChoiceField, self.fields["reasoning_effort"])
        if stored not in ("", *EFFORTS):
            field.choices = [*cast("list[tuple[str, str]]", field.choices), (stored, stored)]

    def _offer_components(self) -> None:
        field = self.fields["components"]
        if isinstance(field, ComponentsField):
            field.offer(self.instance.components)

    def _offer_models(self) -> None:
        provider = self["provider"].value() if "provider" in self.fields else None
        widget = self.fields["model"].widget if "model" in self.fields else None
        if isinstance(widget, DatalistInput):
            widget.suggestions = known_models(provider)


def _initial_of(copilot: Copilot) -> dict[str, Any]:
    own = {key: copilot.parameters[key] for key in OWN_PARAMETERS if key in copilot.parameters}
    rest = {key: value for key, value in copilot.parameters.items() if key not in own}
    return {
        **own,
        "more_parameters": [{"name": key, "value": value} for key, value in rest.items()],
        **{
            name: shown(input, getattr(copilot, name))
            for name, input in TableInputs.declared_fields.items()
        },
    }
