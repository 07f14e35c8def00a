"""What the page of one copilot shows besides its fields."""

from typing import TYPE_CHECKING, Any

from django.forms import BaseForm
from django.http import HttpRequest

from copilot_admin.admin.copilots.form import CopilotForm
from copilot_admin.admin.copilots.preview import preview_of, preview_of_form
from copilot_admin.admin.copilots.prompt import PromptWidget, option_placeholders
from copilot_admin.copilots.drafts import problems_by_field, standing_of
from copilot_admin.models import Copilot

if TYPE_CHECKING:
    from copilot_admin.admin.copilots.views import CopilotViews


def page_context(
    views: "CopilotViews", request: HttpRequest, form: BaseForm, copilot: Copilot | None
) -> dict[str, Any]:
    """State, open problems, preview and the newest version for the template."""
    context: dict[str, Any] = {
        "newest_version": copilot.versions.only("number").first() if copilot else None,
        "copilot": copilot,
        "standing": standing_of(copilot) if copilot else None,
    }
    if not isinstance(form, CopilotForm) or "system_prompt" not in form.fields:
        return context
    open_problems = problems_by_field(copilot) if copilot else {}
    image = views.image_of(copilot) if copilot else ""
    _mark(form, {} if form.is_bound else open_problems)
    _offer_options(form)
    return context | {
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
