"""Context of the Build page, besides the form itself."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.forms import BoundField
from django.http import HttpRequest
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from copilot_admin.admin.copilots.checklist import checklist_of
from copilot_admin.admin.copilots.form import CopilotForm
from copilot_admin.admin.copilots.header import BUILD, build_copilot_header, image_url
from copilot_admin.admin.copilots.model_menu import build_model_groups
from copilot_admin.admin.copilots.preview import preview_of, preview_of_form
from copilot_admin.admin.copilots.switches import build_switch_groups
from copilot_admin.copilots.comparison import find_changes
from copilot_admin.copilots.config_types import MAX_PROMPT_LENGTH
from copilot_admin.copilots.drafts import by_input
from copilot_admin.copilots.publishing import checklist, document_of
from copilot_admin.models import Copilot

if TYPE_CHECKING:
    from django.contrib.admin.helpers import AdminForm

FOLDS: tuple[tuple[str | Promise, str | Promise, tuple[str, ...]], ...] = (
    (
        _("Parameters"),
        _("temperature, length"),
        ("temperature", "max_tokens", "top_p", "reasoning_effort", "more_parameters"),
    ),
    (_("More models"), _("fallbacks, model picker"), ("fallbacks", "model_choices")),
    (_("Custom options"), _("switches and choices for users"), ("custom_features",)),
    (
        _("Context data"),
        _("data that the model always sees"),
        ("data_notes", "data_messages"),
    ),
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """A folded part of the form; it opens if something in it needs attention."""

    title: str | Promise
    summary: str | Promise
    fields: tuple[BoundField, ...]
    is_open: bool


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
    findings = checklist(copilot) if copilot and not form.is_bound else ()
    problems = by_input(one for one in findings if one.is_error)
    for name, sentences in problems.items():
        if name in form.fields:
            form.fields[name].open_problems = sentences  # type: ignore[attr-defined]  # for the template
    image = image_url(copilot) if copilot else ""
    return context | {
        "form": form,
        "is_editor": True,
        "longest_question": MAX_PROMPT_LENGTH,
        "checklist": checklist_of(findings),
        "variables": (*VARIABLES, *build_option_variables(form.instance.custom_features)),
        "switch_groups": build_switch_groups(form),
        "folds": _build_folds(form, problems),
        "model_groups": build_model_groups(),
        "may_connect": request.user.has_perm("copilot_admin.add_provider"),
        "image": image,
        "preview": (
            preview_of_form(form, image=image)
            if form.is_bound
            else preview_of(form.instance, image=image)
        ),
    }


def _build_folds(form: CopilotForm, problems: Mapping[str, object]) -> tuple[Fold, ...]:
    return tuple(
        Fold(
            title=title,
            summary=summary,
            fields=tuple(form[name] for name in names),
            is_open=any(name in form.errors or name in problems for name in names),
        )
        for title, summary, names in FOLDS
    )


@dataclass(frozen=True, slots=True)
class Variable:
    """A name that is replaced when a question is answered."""

    name: str
    meaning: str | Promise

    @property
    def text(self) -> str:
        return f"{{{{ {self.name} }}}}"


VARIABLES = (
    Variable("copilot.name", _("Name of the copilot")),
    Variable("copilot.slug", _("URL name of the copilot")),
    Variable("today", _("Date in the user's time zone")),
    Variable("now", _("Date and time in the user's time zone")),
    Variable("timezone", _("The user's time zone")),
    Variable("user.email", _("The user's e-mail address, if known")),
    Variable("widgets.primary", _("Names of the selected widgets")),
    Variable("widgets.secondary", _("Names of the widgets on the dashboard")),
)


def build_option_variables(custom_features: Iterable[Mapping[str, Any]]) -> tuple[Variable, ...]:
    """Return the variables of a draft's custom options."""
    found: list[Variable] = []
    for row in custom_features:
        key, label = row["key"], row.get("label") or row["key"]
        found.append(Variable(f"options.{key}", gettext("Value of “%s”") % label))
        if row.get("type", "toggle") == "toggle":
            found.append(
                Variable(f"options.{key}.state", gettext("Text of the state of “%s”") % label)
            )
    return tuple(found)
