"""Context of the Build page, besides the form itself: folds, switches, variables and preview."""

from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from django.http import HttpRequest
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from copilot_admin.admin.common.rows import RowFormSet
from copilot_admin.admin.copilots.form import CopilotForm
from copilot_admin.admin.copilots.header import BUILD, build_copilot_header, image_url
from copilot_admin.admin.providers.connect import build_model_rows
from copilot_admin.agent.providers.demo import MODEL as DEMO_MODEL
from copilot_admin.agent.providers.demo import DemoModel
from copilot_admin.agent.values.spec import data_note
from copilot_admin.copilots.checklist.findings import Findings
from copilot_admin.copilots.comparison import find_changes
from copilot_admin.copilots.config_types import MAX_PROMPT_LENGTH, Text
from copilot_admin.copilots.publishing import checklist, document_of
from copilot_admin.models import Copilot, Provider
from protocol.data import fold, render
from protocol.features import FEATURES

if TYPE_CHECKING:
    from django.contrib.admin.helpers import AdminForm

# Title, summary and fields of the folded parts of the form.
FOLDS: tuple[tuple[Text, Text, tuple[str, ...]], ...] = (
    (
        _("Parameters"),
        _("temperature, length"),
        ("temperature", "max_tokens", "top_p", "reasoning_effort", "more_parameters"),
    ),
    (_("More models"), _("fallbacks, model picker"), ("fallbacks", "model_choices")),
    (_("Custom options"), _("switches and choices for users"), ("custom_features",)),
    (_("Context data"), _("data that the model always sees"), ("data_notes", "data_messages")),
    (
        _("Limits per question"),
        _("data and calls"),
        ("max_data_tokens", "max_client_calls", "client_call_limits"),
    ),
    (
        _("Advanced"),
        _("URL name, steps, image hosts"),
        ("slug", "image_url", "steps", "html_sources", "stream_all_text"),
    ),
)


class Row(NamedTuple):
    """A switch: an input, or one value of an input; the label is that of the form."""

    name: str
    value: str
    icon: str
    help: str | Promise


DATA = (
    Row("features", "widget-dashboard-select", "widget", _("Widgets that users add to the chat")),
    Row("features", "widget-dashboard-search", "dash", _("Every widget on the open dashboard")),
    Row("features", "widget-global-search", "layers", _("Every widget in Workspace")),
    Row("features", "file-upload", "file", _("PDF, Word, Excel, CSV and images")),
    Row("read_links", "", "link", _("Up to four links in a question")),
    Row("sees_images", "", "image", _("Sends images to a vision model")),
    Row("widget_data", "", "refresh", _("When widget data is fetched")),
)
OUTPUT = (
    Row("tools", "chart", "chart", _("Charts in the answer")),
    Row("tools", "table", "table", _("Tables that users can export")),
    Row("tools", "html", "code", _("Formatted cards and pages")),
    Row("citations", "", "quote", _("Links from numbers to their source")),
    Row("features", "prompt-suggestions", "bulb", _("Follow-up questions after an answer")),
    Row("features", "feedback", "thumb-up", _("Users can rate answers")),
    Row("show_steps", "", "trace", _("What the copilot does while it works")),
    Row("reasoning_steps", "", "bolt", _("The model's reasoning as a step")),
)
ACTIONS = (
    Row("features", "generative-ui", "edit", _("Adds and updates widgets")),
    Row("features", "mcp-tools", "tool", _("Uses the users' MCP servers")),
    Row("features", "agent-orchestration", "agents", _("Delegates tasks to other agents")),
)
_LISTED = {(row.name, row.value) for row in (*DATA, *OUTPUT, *ACTIONS)}

# Names that are replaced when a question is answered.
VARIABLES: tuple[tuple[str, Text], ...] = (
    ("copilot.name", _("Name of the copilot")),
    ("copilot.slug", _("URL name of the copilot")),
    ("today", _("Date in the user's time zone")),
    ("now", _("Date and time in the user's time zone")),
    ("timezone", _("The user's time zone")),
    ("user.email", _("The user's e-mail address, if known")),
    ("widgets.primary", _("Names of the selected widgets")),
    ("widgets.secondary", _("Names of the widgets on the dashboard")),
)


def build_page_context(
    request: HttpRequest, adminform: "AdminForm", copilot: Copilot | None
) -> dict[str, Any]:
    """Return the context of the page; `draft` instead of the form for who may only look."""
    form = adminform.form
    context: dict[str, Any] = {
        "copilot": copilot,
        "copilot_header": build_copilot_header(request, copilot, BUILD) if copilot else None,
    }
    if not isinstance(form, CopilotForm) or "system_prompt" not in form.fields:
        return context | {"draft": find_changes({}, document_of(copilot)) if copilot else ()}
    findings = checklist(copilot) if copilot and not form.is_bound else Findings()
    problems: dict[str, list[str]] = {}
    for one in findings.errors:
        problems.setdefault(one.input, []).append(one.sentence)
    for name in problems.keys() & form.fields.keys():
        form.fields[name].open_problems = problems[name]  # type: ignore[attr-defined]  # for the template
    image = image_url(copilot) if copilot else ""
    shown = form if form.is_bound else form.instance
    return context | {
        "form": form,
        "is_editor": True,
        "longest_question": MAX_PROMPT_LENGTH,
        "checklist": findings,
        "variables": (*VARIABLES, *build_option_variables(form.instance.custom_features)),
        "switch_groups": build_switch_groups(form),
        "folds": [
            {
                "title": title,
                "summary": summary,
                "fields": [form[name] for name in names],
                "is_open": any(name in form.errors or name in problems for name in names),
            }
            for title, summary, names in FOLDS
        ],
        "model_groups": build_model_groups(),
        "image": image,
        "preview": build_preview(shown, image=image),
    }


def build_model_groups() -> list[dict[str, Any]]:
    groups = []
    for provider in Provider.objects.order_by("name"):
        is_demo = provider.kind == DemoModel.kind
        models = [DEMO_MODEL] if is_demo else provider.model_ids
        groups.append({"provider": provider, "rows": build_model_rows(provider, models)})
    return groups


def build_option_variables(custom_features: Iterable[Mapping[str, Any]]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for row in custom_features:
        name, label = f"options.{row['key']}", row.get("label") or row["key"]
        found.append((name, gettext("Value of “%s”") % label))
        if row.get("type", "toggle") == "toggle":
            found.append((f"{name}.state", gettext("Text of the state of “%s”") % label))
    return found


def build_switch_groups(form: CopilotForm) -> list[dict[str, Any]]:
    """Return the groups with the values of a form; nothing that it offers is left out."""
    fields: Any = form.fields

    def rest(name: str, icon: str, help: Mapping[str, str]) -> list[Row]:
        values = [value for value, _label in fields[name].choices]
        return [
            Row(name, one, icon, help.get(one, "")) for one in values if (name, one) not in _LISTED
        ]

    data = (*DATA, *rest("features", "check", {}))
    output = (*OUTPUT, *rest("tools", "tool", form.tool_help))
    components = rest("components", "fx", fields["components"].help)
    groups: tuple[tuple[str, Text, Sequence[Row], tuple[str, ...]], ...] = (
        ("id_features", _("Data"), data, ("features", "widget_data")),
        ("id_tools", _("Output"), output, ("tools", "citations")),
        ("actions", _("Actions"), ACTIONS, ()),
        ("id_components", _("Built-in tools"), components, ("components",)),
    )
    return [
        {
            "id": id,
            "title": title,
            "switches": [switch for row in rows if (switch := _build_switch(form, row))],
            "fields": [form[name] for name in names],  # their errors are shown under the group
        }
        for id, title, rows, names in groups
    ]


def _build_switch(form: CopilotForm, row: Row) -> dict[str, Any] | None:
    field = form[row.name]
    choices = dict(getattr(field.field, "choices", ()))
    if not row.value:
        state = {"field": field} if choices else {"is_on": bool(field.value())}
        return {**row._asdict(), "label": field.label, "id": field.id_for_label, **state}
    if row.value not in choices:
        return None  # not offered by this server
    return {
        **row._asdict(),
        "label": choices[row.value],
        "id": f"id_{row.name}_{row.value}",
        "is_on": row.value in (field.value() or ()),
    }


def build_preview(shown: Copilot | CopilotForm, *, image: str) -> dict[str, Any]:
    """Return the preview of a stored draft, or of an unsaved form without incomplete rows.

    `image` is the URL on this server, if it has one.
    """
    if isinstance(shown, CopilotForm):
        image = image if _shows_stored_image(shown) else ""
        shown = _read_form(shown)
    notes = [data_note(row) for row in shown.data_notes if row.get("enabled") is not False]
    merging = shown.data_messages.get("merge", True)
    return {
        "copilot": shown,
        "image": image,
        "feature_toggles": [
            (feature.key, gettext(feature.as_toggle))
            for feature in FEATURES
            if feature.as_toggle and shown.all_features[feature.key]
        ],
        "notes": [render(one) for one in fold(notes, merging=merging)],
    }


def _shows_stored_image(form: CopilotForm) -> bool:
    if form.instance.image:
        return not form["remove_image"].value()
    return str(form["image_url"].value() or "").strip() == form.stored_address


def _read_form(form: CopilotForm) -> Copilot:
    def rows(name: str) -> list[Any]:
        formset: RowFormSet = form[name].value()
        formset.is_valid()
        good = [one for one in formset.forms if one.has_changed() and one.is_valid()]
        kept = [one for one in good if not one.cleaned_data.get("DELETE")]
        places = {one: one.cleaned_data.get("ORDER") for one in kept}
        order = sorted(kept, key=lambda one: inf if places[one] is None else places[one])
        return [one.row() for one in order]

    on = set(form["features"].value() or ())
    return Copilot(
        name=form["name"].value() or "",
        description=form["description"].value() or "",
        features={feature.key: feature.key in on for feature in FEATURES},
        model_choices=rows("model_choices"),
        custom_features=rows("custom_features"),
        starters=[row["text"] for row in rows("starters")],
        data_notes=rows("data_notes"),  # type: ignore[misc]  # a JSON column
        data_messages={"merge": "merge" in (form["data_messages"].value() or ())},
    )
