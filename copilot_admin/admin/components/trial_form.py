"""Form to try a tool: its arguments, and what the system would add."""

from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from django import forms
from django.utils.translation import gettext_lazy as _

from copilot_admin.accounts.members import Person, reachable
from copilot_admin.admin.blocks.blocks import build_blocks
from copilot_admin.admin.blocks.kinds import DisplayLimits
from copilot_admin.agent.components.base import Component
from copilot_admin.agent.components.events import ComponentEvents
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
from copilot_admin.agent.server_tools import result_text, title_of
from copilot_admin.component_calls.files import read_upload
from copilot_admin.copilots.providers import provider_spec
from copilot_admin.errors import (
    BadArguments,
    ComponentError,
    ConfigurationError,
    ManifestMismatch,
    RunError,
)
from copilot_admin.import_export.formats import describe_json_error
from copilot_admin.models import Copilot, Run
from copilot_admin.rendering.text import pretty_json, shortened
from copilot_admin.transcripts.queries.reading import RunView, make_event
from copilot_admin.transcripts.store.recorder import Recorder
from protocol.components import ComponentOutput
from protocol.events import CitationCollection
from protocol.json import JsonObject, MalformedJson, clean_text, loads

MAX_CHARACTERS = 2_000_000
MAX_BYTES = 20 * 1024 * 1024
MAX_OUTPUT_CHARACTERS = 4_000  # of one output
MAX_OUTPUTS = 200
FOR_DEVELOPERS = {"content": {"__all__": {"raw_data"}}}  # for developers only


class TrialForm(forms.Form):
    """Inputs of a try; only those that the tool uses."""

    required_css_class = "required"

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
            text = _("Not valid JSON. %(fault)s") % {"fault": describe_json_error(error)}
            raise forms.ValidationError(text, code="json") from error
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


LIMITS = DisplayLimits(rows=200, cell=1_000, text=100_000)  # nothing else is on the page


async def try_component(run: ComponentRun) -> dict[str, Any]:
    """Run a tool to its end; an error becomes part of the result."""
    error: ComponentError | None = None
    try:
        async with aclosing(run.stream()) as outputs:
            async for _ in outputs:
                pass
    except ComponentError as raised:
        error = raised
    text = error.public if error else ""
    is_refused = isinstance(error, BadArguments)
    for_model = text if isinstance(error, ManifestMismatch) else result_text(run)
    return {
        "listed": [_format(one, MAX_OUTPUT_CHARACTERS) for one in run.outputs[:MAX_OUTPUTS]],
        "outputs": len(run.outputs),
        "blocks": tuple(build_blocks(_record_answer(run), limits=LIMITS)),
        "for_model": shortened(clean_text(for_model), most=LIMITS.text),
        "merged": _format(run.merged, LIMITS.text),
        "refusal": text if is_refused else "",
        "problem": "" if is_refused else text,
        "usage": tuple(map(dict, run.usage)),
        "ms": round(run.seconds * 1000),
    }


def _format(output: ComponentOutput, max_length: int) -> str:
    text = pretty_json(output.model_dump(mode="json", exclude=FOR_DEVELOPERS))
    return shortened(clean_text(text), most=max_length)


def _record_answer(run: ComponentRun) -> RunView:
    """Return an answer with only this call, as a transcript would store it."""
    recorder, id = Recorder(), uuid4()
    events = ComponentEvents(
        title=title_of(run.component.name),
        description=run.component.summary(),
        id=id,
        stream_all_text=True,
        show_steps=True,
    )
    for output in run.outputs:
        for event in events.take(output):
            recorder.add(event, at_ms=0)
    for event in events.end():
        recorder.add(event, at_ms=0)
    if events.citations:
        recorder.add(CitationCollection(tuple(events.citations.values())), at_ms=0)
    recording = recorder.recording()
    made = tuple(make_event(one, order) for order, one in enumerate(recording.events))
    return RunView(row=Run(id=id), answer=recording.text, events=made)
