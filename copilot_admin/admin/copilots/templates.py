"""New from template: a gallery of copilots to copy, and the few questions that a copy asks."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import URLPattern, path
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.admin.common.widgets import DatalistInput
from copilot_admin.admin.copilots.views import CopilotViews, number_in
from copilot_admin.copilots.model_lists import known_models
from copilot_admin.copilots.slugs import free_slug
from copilot_admin.import_export.faults import BadCopilotFile
from copilot_admin.import_export.template_needs import needs_of
from copilot_admin.import_export.templates import (
    REHEARSAL,
    Switched,
    Template,
    TemplateGroup,
    UnusableTemplate,
    make_copilot,
    templates,
    usual_provider,
)
from copilot_admin.models import Access, Copilot, Provider
from copilot_admin.rendering.charts import DrawnChart, draw_chart
from copilot_admin.rendering.markdown import safe_html

FOLDER = "admin/copilot_admin/copilot"


GROUPS: Mapping[TemplateGroup, str | Promise] = {
    TemplateGroup.READS: gettext_lazy("Answers from what the user has"),
    TemplateGroup.SHOWS: gettext_lazy("Shows answers in a form of their own"),
    TemplateGroup.WORKS: gettext_lazy(
        "Works with options, tools and skills, or with a question alone"
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTemplate:
    """A template as people meet it.

    Attributes:
        needs: What it works with, in words.
        answer: Of its sample, as HTML.
        chart: Of its sample, drawn.
    """

    template: Template
    needs: tuple[str, ...]
    answer: SafeString | None = None
    chart: DrawnChart | None = None


def shown_template(template: Template) -> ShownTemplate:
    """What a template needs and what it answers, drawn."""
    sample = template.sample
    if sample is None:
        return ShownTemplate(template=template, needs=needs_of(template))
    drawn = draw_chart(sample.chart["chart_params"], sample.chart["rows"]) if sample.chart else None
    return ShownTemplate(
        template=template,
        needs=needs_of(template),
        answer=safe_html(sample.answer),
        chart=drawn,
    )


class TemplateForm(forms.Form):
    """What a template leaves open."""

    slug = forms.CharField(
        label=gettext_lazy("Slug"),
        max_length=60,
        validators=Copilot._meta.get_field("slug").validators,
        help_text=gettext_lazy("The last part of its address. Clients know the copilot by it."),
    )
    provider = forms.ModelChoiceField(
        label=gettext_lazy("Provider"), queryset=Provider.objects.order_by("name"), empty_label=None
    )
    model = forms.CharField(
        label=gettext_lazy("Model"),
        max_length=200,
        required=False,
        widget=DatalistInput,
        help_text=gettext_lazy("Empty: the one model of the demo model."),
    )
    switched_model = forms.CharField(
        label=gettext_lazy("Model while the control is on"),
        max_length=200,
        required=False,
        help_text=gettext_lazy("Such as one that searches the web. Empty: you name it later."),
    )
    switched_provider = forms.ModelChoiceField(
        label=gettext_lazy("Its provider"),
        queryset=Provider.objects.order_by("name"),
        required=False,
        empty_label=gettext_lazy("The same provider"),
    )
    other_models = forms.CharField(
        label=gettext_lazy("Other models to choose from"),
        max_length=2000,
        required=False,
        help_text=gettext_lazy("With commas between them. Empty: you name them later."),
    )
    access = forms.ChoiceField(
        label=gettext_lazy("Access"), choices=Access.choices, initial=Access.KEY
    )

    def __init__(self, *args: Any, template: Template, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        widget = self.fields["model"].widget
        if isinstance(widget, DatalistInput):
            widget.suggestions = known_models(number_in(str(self["provider"].value())))
        if not template.switched_model:
            del self.fields["switched_model"], self.fields["switched_provider"]
        if not template.model_picker:
            del self.fields["other_models"]

    @property
    def switched(self) -> Switched | None:
        """What answers while the template's control is on, if that was said."""
        model, provider = map(self.cleaned_data.get, ("switched_model", "switched_provider"))
        return Switched(model, provider.name if provider else "") if model else None

    def clean_other_models(self) -> list[str]:
        """The ids of the other models; they are typed with commas between them."""
        return [
            one for part in self.cleaned_data["other_models"].split(",") if (one := part.strip())
        ]

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or self.cleaned_data
        provider = values.get("provider")
        if provider and provider.kind != REHEARSAL and not values.get("model"):
            self.add_error("model", _("Name a model of this provider."))
        return values


class TemplateViews(CopilotViews):
    """The pages of templates; whoever may add a copilot may copy one."""

    def template_urls(self) -> list[URLPattern]:
        """The addresses of the gallery."""
        wrap = self.admin_site.admin_view
        return [
            path("templates/", wrap(self.gallery_view), name="copilot_admin_copilot_templates"),
            path(
                "templates/<slug:slug>/",
                wrap(self.template_view),
                name="copilot_admin_copilot_from_template",
            ),
        ]

    def gallery_view(self, request: HttpRequest) -> HttpResponseBase:
        """All templates, each with what it shows and what makes it."""
        shown = [shown_template(template) for template in templates().values()]
        groups = [
            (words, [one for one in shown if one.template.group is group])
            for group, words in GROUPS.items()
        ]
        return self._page(request, "gallery.html", title=_("New from template"), groups=groups)

    def template_view(self, request: HttpRequest, slug: str) -> HttpResponseBase:
        """Asks what the template leaves open; a POST makes the draft."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        template = templates().get(slug)
        if template is None:
            raise Http404
        provider = usual_provider()
        initial = {
            "slug": free_slug(template.slug),
            "provider": provider,
            "model": self._usual_model(request, provider),
        }
        form = TemplateForm(request.POST or None, template=template, initial=initial)
        if request.method == "POST" and form.is_valid():
            copilot = self._made(request, template, form)
            if copilot is not None:
                return HttpResponseRedirect(self.change_url(copilot))
        return self._page(
            request,
            "from_template.html",
            title=template.name,
            template=template,
            shown=shown_template(template),
            form=form,
        )

    def _usual_model(self, request: HttpRequest, provider: Provider) -> str:
        if provider.kind == REHEARSAL:
            return ""
        drafts = self.get_queryset(request).filter(provider=provider, archived_at=None)
        newest = drafts.order_by("-updated_at").values_list("model", flat=True)
        return newest.first() or ""

    def _made(self, request: HttpRequest, template: Template, form: TemplateForm) -> Copilot | None:
        values = form.cleaned_data
        user = request.user if isinstance(request.user, AbstractBaseUser) else None
        try:
            with transaction.atomic():
                copilot = make_copilot(
                    template,
                    slug=values["slug"],
                    access=values["access"],
                    provider=values["provider"],
                    model=values["model"],
                    switched=form.switched,
                    other_models=values.get("other_models", ()),
                    user=user,
                )
                self.log_addition(request, copilot, f"Made of the template {template.slug}.")
        except UnusableTemplate as error:
            form.add_error("slug", error.public)
            return None
        except BadCopilotFile as error:  # the template is right, so it is what was typed
            form.add_error("model", list(dict.fromkeys(one.sentence for one in error.faults)))
            return None
        text = _("“%(name)s” is a draft now. Change what you like, then publish it.")
        messages.success(request, text % {"name": copilot.name})
        return copilot

    def _page(self, request: HttpRequest, name: str, **context: Any) -> HttpResponseBase:
        if not self.has_add_permission(request):
            raise PermissionDenied
        everywhere = self.admin_site.each_context(request)
        return render(request, f"{FOLDER}/{name}", {**everywhere, "opts": self.opts, **context})
