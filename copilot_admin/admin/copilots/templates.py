"""Gallery of templates: preview one, and make a draft from it with one click."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _

from copilot_admin.admin.copilots.views import CopilotViews, person_of
from copilot_admin.copilots.comparison import format_value, label_of
from copilot_admin.import_export.templates import Template, TemplateGroup, make_copilot, templates
from copilot_admin.models import Access
from copilot_admin.rendering.charts import draw_chart
from copilot_admin.rendering.markdown import safe_html

_SHOWN_SETTINGS = ("widget_data", "features", "tools", "components", "citations")


class TemplateViews(CopilotViews):
    """Pages of the templates, for users who can add a copilot."""

    def templates_view(self, request: HttpRequest) -> HttpResponseBase:
        """Show all templates: those for jobs first, then the examples."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        shown = sorted(templates().values(), key=lambda one: one.name)
        jobs = [one for one in shown if one.group is TemplateGroup.JOBS]
        examples = [one for one in shown if one.group is TemplateGroup.EXAMPLES]
        return self.render_page(request, "gallery", _("Templates"), jobs=jobs, examples=examples)

    def from_template_view(self, request: HttpRequest, slug: str) -> HttpResponseBase:
        """Show a preview; a POST makes the draft and opens the editor."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        template = templates().get(slug)
        if template is None:
            raise Http404
        if request.method == "POST":
            with transaction.atomic():
                copilot = make_copilot(template, access=Access.KEY, user=person_of(request))
                self.log_addition(request, copilot, f"Made from the template {slug}.")
            text = _("“%(name)s” was created as a draft.") % {"name": copilot.name}
            messages.success(request, text)
            return HttpResponseRedirect(self.url_of("change", copilot))
        settings = [
            (label_of(key), format_value(key, template.entry[key]))
            for key in _SHOWN_SETTINGS
            if template.entry.get(key)
        ]
        sample = _draw_sample(template)
        return self.render_page(
            request,
            "from_template",
            template.name,
            template=template,
            sample=sample,
            settings=settings,
        )


def _draw_sample(template: Template) -> dict[str, Any] | None:
    sample = template.sample
    if sample is None:
        return None
    chart = draw_chart(sample.chart["chart_params"], sample.chart["rows"]) if sample.chart else None
    return {"question": sample.question, "answer": safe_html(sample.answer), "chart": chart}
