"""Providers are asked for their models: for the form of a copilot, and for its checklist."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseNotAllowed, HttpResponseRedirect, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import URLPattern, path
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from copilot_admin.accounts.members import may_publish
from copilot_admin.admin.copilots.checklist import checklist_of
from copilot_admin.admin.copilots.form import NO_SUCH_PROVIDER
from copilot_admin.admin.copilots.views import CopilotViews, number_in
from copilot_admin.copilots.drafts import drafts_of
from copilot_admin.copilots.model_lists import ask_all, fetch_models, known_models
from copilot_admin.copilots.other_providers import find_providers
from copilot_admin.errors import ConfigurationError, RunError
from copilot_admin.models import Provider

TEMPLATE = "admin/copilot_admin/copilot/checklist_part.html"


class ModelViews(CopilotViews):
    """Views that ask providers; only those that an operator set up are ever called."""

    def model_urls(self) -> list[URLPattern]:
        """The addresses of these views."""
        wrap, name = self.admin_site.admin_view, "copilot_admin_copilot"
        return [
            path("models/", wrap(self.models_view), name=f"{name}_models"),
            path("<id:pk>/checklist/", wrap(self.checklist_view), name=f"{name}_checklist"),
        ]

    def models_view(self, request: HttpRequest) -> HttpResponseBase:
        """A provider's models: a GET gives those that are known, a POST asks the provider."""
        if request.method not in ("GET", "POST"):
            return HttpResponseNotAllowed(["GET", "POST"])
        if not (self.has_add_permission(request) or self.has_change_permission(request)):
            raise PermissionDenied
        if request.method == "GET":
            known = known_models(number_in(request.GET.get("provider")))
            return JsonResponse({"models": known, "sentence": ""})
        chosen = number_in(request.POST.get("provider"))
        provider = Provider.objects.filter(pk=chosen).first()
        if provider is None:
            sentence = NO_SUCH_PROVIDER if chosen else _("Choose a provider first.")
            return JsonResponse({"models": [], "sentence": str(sentence)})
        try:
            found = fetch_models(provider)
        except (RunError, ConfigurationError) as error:
            return JsonResponse({"models": [], "sentence": error.public})
        sentence = ngettext(
            "%(count)d model.", "%(count)d models. Type to find one.", len(found)
        ) % {"count": len(found)}
        return JsonResponse({"models": found, "sentence": sentence})

    def checklist_view(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        """Asks the providers of a draft for their models, and gives the checklist as it is then."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        if not (self.has_change_permission(request) or may_publish(request.user)):
            raise PermissionDenied
        copilot = self.one_in_use(request, pk)
        [before] = drafts_of([copilot])
        silent = ask_all(find_providers(before.unasked))
        if "part" not in request.GET:
            for name, why in silent.items():
                messages.warning(request, _silence(name, why))
            return HttpResponseRedirect(self.publish_url([pk]))
        [draft] = drafts_of([self.one_in_use(request, pk)])  # with the models fetched just now
        context = {
            "copilot": copilot,
            "checklist": checklist_of(draft.findings),
            "unasked": [name for name in draft.unasked if name not in silent],
            "silent": [_silence(name, why) for name, why in silent.items()],
        }
        response = render(request, TEMPLATE, context)
        response["Cache-Control"] = "no-store"
        return response


def _silence(name: str, why: str) -> str:
    sentence = _(
        "The provider “%(name)s” did not say which models it has, so the checklist cannot tell "
        "whether their names are right. %(why)s"
    )
    return sentence % {"name": name, "why": why}
