"""Form to try a tool: its arguments, and what the system would add."""

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from django import forms
from django.utils.translation import gettext_lazy as _

from copilot_admin.accounts.members import Person, reachable
from copilot_admin.agent.components.base import Component
from copilot_admin.agent.components.inputs import (
    DOCUMENTS,
    MODEL,
    DocumentOrigin,
    ModelClient,
    SourceDocument,
    from_server,
)
from copilot_admin.agent.components.runs import ComponentRun
from copilot_admin.agent.documents.document import UnreadableFile
from copilot_admin.agent.documents.registry import data_types
from copilot_admin.agent.providers.registry import make_provider
from copilot_admin.component_calls.files import read_upload
from copilot_admin.copilots.providers import provider_spec
from copilot_admin.errors import ConfigurationError, RunError
from copilot_admin.import_export.reading import describe_json_error
from copilot_admin.models import Copilot
from protocol.json import JsonObject, MalformedJson, loads

MAX_CHARACTERS = 2_000_000
MAX_BYTES = 20 * 1024 * 1024


class TrialForm(forms.Form):
    """Inputs of a try; only those that the tool uses."""

    arguments = forms.CharField(
        label=_("Arguments"),
        max_length=MAX_CHARACTERS,
        widget=forms.Textarea(attrs={"rows": 8, "spellcheck": "false", "class": "ca-mono"}),
        help_text=_("A JSON object with the parameters."),
    )
    copilot = forms.ModelChoiceField(
        label=_("Copilot"),
        queryset=Copilot.objects.none(),
        required=False,
        empty_label=_("None"),
        help_text=_("The tool uses the model of this copilot's draft."),
    )
    document = forms.CharField(
        label=_("Document text"),
        max_length=MAX_CHARACTERS,
        required=False,
        widget=forms.Textarea(attrs={"rows": 6}),
    )
    file = forms.FileField(label=_("Document file"), required=False)

    def __init__(self, component: type[Component], *args: Any, user: Person, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.component = component
        if MODEL in component.uses:
            offered = reachable(user).in_use().select_related("provider").by_name()
            self.fields["copilot"].queryset = offered  # type: ignore[attr-defined]  # of models
        else:
            del self.fields["copilot"]
        if DOCUMENTS not in component.uses:
            del self.fields["document"], self.fields["file"]
        else:
            suffixes = [f".{kind}" for kind in sorted(data_types())]
            self.fields["file"].widget.attrs["accept"] = ",".join(suffixes)
            self.fields["file"].help_text = ", ".join(suffixes)

    def clean_arguments(self) -> JsonObject:
        try:
            value = loads(self.cleaned_data["arguments"].encode())
        except (MalformedJson, UnicodeEncodeError) as error:
            raise forms.ValidationError(
                _("Not valid JSON. %(fault)s"), "json", {"fault": describe_json_error(error)}
            ) from error
        if not isinstance(value, dict):
            raise forms.ValidationError(_("Enter a JSON object in braces."), code="object")
        return value

    def clean_copilot(self) -> ModelClient | None:
        copilot: Copilot | None = self.cleaned_data["copilot"]
        if copilot is None:
            return None
        try:
            spec = provider_spec(copilot.provider)
            provider = make_provider(spec)
        except (ConfigurationError, RunError) as error:
            raise forms.ValidationError(error.public, code="provider") from error
        return ModelClient(
            provider=provider,
            model=copilot.model,
            timeouts=spec.timeouts,
            parameters=copilot.parameters,
        )

    def clean_file(self) -> SourceDocument | None:
        upload = self.cleaned_data["file"]
        if not upload:
            return None
        if upload.size > MAX_BYTES:
            raise forms.ValidationError(_("The file is larger than 20 MB."))
        try:
            return read_upload(upload.read(), name=upload.name)
        except UnreadableFile as error:
            raise forms.ValidationError(error.public) from error

    def build_run(self, *, uid: str) -> ComponentRun:
        """Return the call of a valid form, made by the user with this id."""
        values = self.cleaned_data
        now, trace_id = datetime.now(UTC), str(uuid4())
        system = from_server(self.component.name, at=now, uid=uid, trace_id=trace_id)
        if values.get("copilot"):
            system[MODEL] = values["copilot"]
        if DOCUMENTS in self.component.uses:
            text = values["document"]
            typed = SourceDocument("Document", DocumentOrigin.FILE, (("", text),))
            found = (typed if text.strip() else None, values["file"])
            system[DOCUMENTS] = tuple(one for one in found if one is not None)
            system["_sys_file_names"] = [one.name for one in system[DOCUMENTS]]
        return ComponentRun(self.component, values["arguments"], system=system)
