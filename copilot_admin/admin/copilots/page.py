"""What the page of one copilot shows besides its fields."""

from typing import TYPE_CHECKING, Any

from django.contrib.admin.helpers import AdminForm

from copilot_admin.accounts.members import Person
from copilot_admin.admin.copilots.at_once import panel_of
from copilot_admin.admin.copilots.checklist import checklist_of
from copilot_admin.admin.copilots.form import CopilotForm
from copilot_admin.admin.copilots.preview import preview_of, preview_of_form
from copilot_admin.admin.copilots.prompt import PromptWidget, option_placeholders
from copilot_admin.admin.copilots.tabs import tabs_of
from copilot_admin.copilots.drafts import by_input, changes_between
from copilot_admin.copilots.fields.text_checks import LONGEST_PROMPT
from copilot_admin.copilots.publishing import checklist, document_of
from copilot_admin.models import Copilot

if TYPE_CHECKING:
    from copilot_admin.admin.copilots.views import CopilotViews


def page_context(
    views: "CopilotViews",
    adminform: AdminForm,
    copilot: Copilot | None,
    user: Person,
) -> dict[str, Any]:
    """State, open problems, tabs, preview and the newest version for the template."""
    form = adminform.form
    context: dict[str, Any] = {
        "at_once": panel_of(copilot, user) if copilot else None,
        "newest_version": copilot.versions.only("number").first() if copilot else None,
        "copilot": copilot,
    }
    if not isinstance(form, CopilotForm) or "system_prompt" not in form.fields:
        return context | {"told": changes_between({}, document_of(copilot)) if copilot else ()}
    findings = checklist(copilot) if copilot else ()
    open_problems = by_input(one for one in findings if one.is_error)
    image = views.image_of(copilot) if copilot else ""
    marked = {} if form.is_bound else open_problems
    _mark(form, marked)
    _offer_options(form)
    return context | {
        "longest_question": LONGEST_PROMPT,
        "warnings": checklist_of(findings).warnings,
        "tabs": tabs_of(adminform, form.instance, marked),
        "open_problems": sum(map(len, open_problems.values())),
        "loose_problems": [
            sentence
            for field, sentences in open_problems.items()
            if field not in form.fields
            for sentence in sentences
        ],
        "preview": (
            preview_of_form(form, image=image)
            if form.is_bound
            else preview_of(form.instance, image=image)
        ),
    }


def _mark(form: CopilotForm, problems: Any) -> None:
    for name, sentences in problems.items():
        if name in form.fields:
            form.fields[name].open_problems = sentences  # type: ignore[attr-defined]  # for the template


def _offer_options(form: CopilotForm) -> None:
    widget = form.fields["system_prompt"].widget
    if isinstance(widget, PromptWidget):
        widget.options = option_placeholders(form.instance.custom_features)
