"""Gallery of templates: preview one, and make a draft from it with one click."""

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from copilot_admin.admin.copilots.views import CopilotViews
from copilot_admin.copilots.comparison import format_value, label_of
from copilot_admin.import_export.templates import Template, TemplateGroup, make_copilot, templates
from copilot_admin.models import Access, Copilot
from copilot_admin.rendering.charts import DrawnChart, draw_chart
from copilot_admin.rendering.markdown import safe_html

FOLDER = "admin/copilot_admin/copilot"
_SHOWN_SETTINGS = ("widget_data", "features", "tools", "components", "citations")


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnSample:
    """A sample answer as HTML, with its chart."""

    question: str
    answer: SafeString
    chart: DrawnChart | None


class TemplateViews(CopilotViews):
    """Pages of the templates, for users who can add a copilot."""

    def gallery_view(self, request: HttpRequest) -> HttpResponseBase:
        """Show all templates: those for jobs first, then the examples."""
        shown = templates().values()
        groups = {
            group: sorted((one for one in shown if one.group is group), key=lambda one: one.name)
            for group in TemplateGroup
        }
        return self._page(
            request,
            "gallery.html",
            title=_("Templates"),
            jobs=groups[TemplateGroup.JOBS],
            examples=groups[TemplateGroup.EXAMPLES],
        )

    def template_view(self, request: HttpRequest, slug: str) -> HttpResponseBase:
        """Show a preview; a POST makes the draft and opens the editor."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        template = templates().get(slug)
        if template is None:
            raise Http404
        if request.method == "POST":
            return HttpResponseRedirect(self.change_url(self._use(request, template)))
        settings = [
            (label_of(key), format_value(key, template.entry[key]))
            for key in _SHOWN_SETTINGS
            if template.entry.get(key)
        ]
        return self._page(
            request,
            "from_template.html",
            title=template.name,
            template=template,
            sample=_draw_sample(template),
            settings=settings,
        )

    def _use(self, request: HttpRequest, template: Template) -> Copilot:
        user = request.user if isinstance(request.user, AbstractBaseUser) else None
        with transaction.atomic():
            copilot = make_copilot(template, access=Access.KEY, user=user)
            self.log_addition(request, copilot, f"Made from the template {template.slug}.")
        text = _("“%(name)s” was created as a draft.") % {"name": copilot.name}
        messages.success(request, text)
        return copilot

    def _page(self, request: HttpRequest, name: str, **context: Any) -> HttpResponseBase:
        if not self.has_add_permission(request):
            raise PermissionDenied
        everywhere = self.admin_site.each_context(request)
        return render(request, f"{FOLDER}/{name}", {**everywhere, "opts": self.opts, **context})


def _draw_sample(template: Template) -> DrawnSample | None:
    sample = template.sample
    if sample is None:
        return None
    chart = draw_chart(sample.chart["chart_params"], sample.chart["rows"]) if sample.chart else None
    return DrawnSample(question=sample.question, answer=safe_html(sample.answer), chart=chart)
