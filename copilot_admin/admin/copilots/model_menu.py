"""Views that fetch models: for the model menu of the Build page, and for the checklist."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from copilot_admin.accounts.members import may_publish
from copilot_admin.admin.common.base import number_in, post_only
from copilot_admin.admin.copilots.build_page import build_model_groups
from copilot_admin.admin.copilots.views import FOLDER, CopilotViews, page_of
from copilot_admin.admin.providers.connect import describe_error
from copilot_admin.copilots.other_providers import find_providers
from copilot_admin.copilots.providers import ask_all, fetch_models, record_error
from copilot_admin.copilots.publishing import drafts_of
from copilot_admin.errors import ConfigurationError, RunError
from copilot_admin.models import Provider


class ModelViews(CopilotViews):
    """Views that call providers; only those that an operator set up."""

    @method_decorator(require_http_methods(["GET", "POST"]))
    def models_view(self, request: HttpRequest) -> HttpResponseBase:
        """Return the menu of models; a POST fetches those of a provider first."""
        if not (self.has_add_permission(request) or self.has_change_permission(request)):
            raise PermissionDenied
        error = ""
        if request.method == "POST":
            pk = number_in(request.GET.get("provider"))
            error = _fetch(Provider.objects.filter(pk=pk).first())
        context = {
            "model_groups": build_model_groups(),
            "model_error": error,
        }
        return render(request, f"{FOLDER}/model_menu.html", context)

    @post_only
    def checklist_view(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        """Fetch the models of a draft's providers and return its checklist."""
        if not (self.has_change_permission(request) or may_publish(request.user)):
            raise PermissionDenied
        [draft] = drafts_of([get_object_or_404(self.in_use(request), pk=pk)])
        failed = ask_all(find_providers(draft.unasked))
        text = _(
            "The models of “%(name)s” could not be fetched, so model names are not checked. %(why)s"
        )
        silent = [text % {"name": name, "why": why} for name, why in failed.items()]
        if "part" not in request.GET:
            for sentence in silent:
                messages.warning(request, sentence)
            return HttpResponseRedirect(page_of("publish", [pk]))
        copilot = get_object_or_404(self.in_use(request), pk=pk)
        [draft] = drafts_of([copilot])  # with the models fetched just now
        context = {
            "copilot": copilot,
            "checklist": draft.findings,
            "unasked": [name for name in draft.unasked if name not in failed],
            "silent": silent,
        }
        response = render(request, f"{FOLDER}/checklist_part.html", context)
        response["Cache-Control"] = "no-store"
        return response


def _fetch(provider: Provider | None) -> str:
    if provider is None:
        return _("This provider was deleted. Choose another one.")
    try:
        fetch_models(provider)
    except (RunError, ConfigurationError) as error:
        record_error(provider.pk, describe_error(error))
        return error.public
    return ""
