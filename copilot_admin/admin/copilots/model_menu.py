"""Model menu of the Build page, and the views that fetch models."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseNotAllowed, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _

from copilot_admin.accounts.members import may_publish
from copilot_admin.admin.copilots.checklist import checklist_of
from copilot_admin.admin.copilots.views import CopilotViews, number_in
from copilot_admin.admin.providers.connect import ModelRow, build_model_rows, describe_error
from copilot_admin.agent.providers.demo import MODEL as DEMO_MODEL
from copilot_admin.agent.providers.demo import DemoModel
from copilot_admin.copilots.drafts import drafts_of
from copilot_admin.copilots.model_lists import ask_all, fetch_models, record_error
from copilot_admin.copilots.other_providers import find_providers
from copilot_admin.errors import ConfigurationError, RunError
from copilot_admin.models import Provider

FOLDER = "admin/copilot_admin/copilot"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelGroup:
    """A provider with its models."""

    provider: Provider
    rows: tuple[ModelRow, ...]


def build_model_groups() -> tuple[ModelGroup, ...]:
    """Return every provider with the models that were fetched last."""
    return tuple(_build_groups())


def _build_groups() -> Iterator[ModelGroup]:
    for provider in Provider.objects.order_by("name"):
        models = tuple(provider.model_ids)
        if provider.kind == DemoModel.kind:
            models = (DEMO_MODEL,)
        yield ModelGroup(provider=provider, rows=build_model_rows(provider, models))


class ModelViews(CopilotViews):
    """Views that call providers; only those that an operator set up."""

    def models_view(self, request: HttpRequest) -> HttpResponseBase:
        """Return the menu of models; a POST fetches those of a provider first."""
        if request.method not in ("GET", "POST"):
            return HttpResponseNotAllowed(["GET", "POST"])
        if not (self.has_add_permission(request) or self.has_change_permission(request)):
            raise PermissionDenied
        error = ""
        if request.method == "POST":
            error = self._fetch(number_in(request.GET.get("provider")))
        context = {
            "model_groups": build_model_groups(),
            "model_error": error,
            "may_connect": request.user.has_perm("copilot_admin.add_provider"),
        }
        return render(request, f"{FOLDER}/model_menu.html", context)

    def _fetch(self, provider_id: int) -> str:
        provider = Provider.objects.filter(pk=provider_id).first()
        if provider is None:
            return _("This provider was deleted. Choose another one.")
        try:
            fetch_models(provider)
        except (RunError, ConfigurationError) as error:
            record_error(provider.pk, describe_error(error))
            return error.public
        return ""

    def checklist_view(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        """Fetch the models of a draft's providers and return its checklist."""
        if not (self.has_change_permission(request) or may_publish(request.user)):
            raise PermissionDenied
        copilot = self.one_in_use(request, pk)
        [before] = drafts_of([copilot])
        failed = ask_all(find_providers(before.unasked))
        if "part" not in request.GET:
            for name, why in failed.items():
                messages.warning(request, _describe_failure(name, why))
            return HttpResponseRedirect(self.publish_url([pk]))
        [draft] = drafts_of([self.one_in_use(request, pk)])  # with the models fetched just now
        context = {
            "copilot": copilot,
            "checklist": checklist_of(draft.findings),
            "unasked": [name for name in draft.unasked if name not in failed],
            "silent": [_describe_failure(name, why) for name, why in failed.items()],
        }
        response = render(request, f"{FOLDER}/checklist_part.html", context)
        response["Cache-Control"] = "no-store"
        return response


def _describe_failure(name: str, why: str) -> str:
    text = _(
        "The models of “%(name)s” could not be fetched, so model names are not checked. %(why)s"
    )
    return text % {"name": name, "why": why}
