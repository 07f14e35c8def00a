"""The views that try a provider: as it is saved, or as its form stands."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseNotAllowed,
    HttpResponseRedirect,
    JsonResponse,
)
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from copilot_admin.admin.common.generics import ProviderModelAdmin
from copilot_admin.admin.providers.form import ProviderForm
from copilot_admin.admin.providers.trial import try_provider
from copilot_admin.admin.providers.unsaved import spec_of_form
from copilot_admin.agent.providers.registry import make_provider
from copilot_admin.agent.values.spec import ProviderSpec
from copilot_admin.copilots.model_lists import keep_models, models_of
from copilot_admin.copilots.providers import provider_spec
from copilot_admin.errors import ConfigurationError, RunError
from copilot_admin.models import Action, Provider

LONGEST_MODEL = 200
# Where one of these was changed, another server may have answered than the one that is saved.
WHERE = frozenset({"kind", "base_url", "api_key", "clear_key", "api_key_env"})


class TrialViews(ProviderModelAdmin):
    """Views of the provider admin that ask a provider something; each asks for its permission."""

    def trial_urls(self) -> list[URLPattern]:
        """The addresses of these views."""
        wrap, name = self.admin_site.admin_view, "copilot_admin_provider"
        return [
            path("test/", wrap(self.test_form_view), name=f"{name}_test_form"),
            path("models/", wrap(self.models_form_view), name=f"{name}_models_form"),
            path("<id:pk>/test/", wrap(self.test_view), name=f"{name}_test"),
            path("<id:pk>/models/", wrap(self.models_view), name=f"{name}_models"),
        ]

    def test_view(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        """Asks the provider for one word."""
        provider = self._for_operation(request, pk)
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        try:
            is_good, sentence = _tested(provider_spec(provider), _model_in(request))
        except ConfigurationError as error:
            is_good, sentence = False, _not_working(error.public)
        self._audit_trial(request, provider, is_good=is_good)
        level = messages.INFO if is_good else messages.ERROR
        self.message_user(request, sentence, level=level)
        return self._back(provider)

    def models_view(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        """Fetches the list of models, which builders then pick from."""
        provider = self._for_operation(request, pk)
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        try:
            found = models_of(provider_spec(provider))
        except (RunError, ConfigurationError) as error:
            self._audit_trial(request, provider, is_good=False)
            self.message_user(request, error.public, level=messages.ERROR)
        else:
            keep_models(provider.pk, found)
            self._audit_trial(request, provider, is_good=True)
            self.message_user(request, _found(found))
        return self._back(provider)

    def test_form_view(self, request: HttpRequest) -> HttpResponseBase:
        """Asks the provider that a form describes for one word; the answer is JSON."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        form = self._form_in(request)
        try:
            is_good, sentence = _tested(spec_of_form(form), _model_in(request))
        except ConfigurationError as error:
            is_good, sentence = False, error.public
        self._audit_trial(request, form.instance, is_good=is_good)
        return JsonResponse({"is_good": is_good, "sentence": sentence})

    def models_form_view(self, request: HttpRequest) -> HttpResponseBase:
        """Asks the provider that a form describes for its models; the answer is JSON."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        form = self._form_in(request)
        try:
            found = models_of(spec_of_form(form))
        except (RunError, ConfigurationError) as error:
            self._audit_trial(request, form.instance, is_good=False)
            return JsonResponse({"is_good": False, "sentence": error.public, "models": []})
        self._audit_trial(request, form.instance, is_good=True)
        if form.instance.pk and WHERE.isdisjoint(form.changed_data):
            keep_models(form.instance.pk, found)
        return JsonResponse({"is_good": True, "sentence": _found(found), "models": found})

    def _form_in(self, request: HttpRequest) -> ProviderForm:
        given = request.GET.get("id", "")
        if not given:
            if not self.has_add_permission(request):
                raise PermissionDenied
            return ProviderForm(request.POST)
        pk = int(given) if given.isascii() and given.isdecimal() and len(given) < 16 else 0
        return ProviderForm(request.POST, instance=self._for_operation(request, pk))

    def _for_operation(self, request: HttpRequest, pk: int) -> Provider:
        provider = get_object_or_404(Provider, pk=pk)
        if not self.has_change_permission(request, provider):
            raise PermissionDenied
        return provider

    def _audit_trial(self, request: HttpRequest, provider: Provider, *, is_good: bool) -> None:
        """Says that a provider was asked; where it is may be what somebody has only typed."""
        facts = {"base_url": provider.base_url, "kind": provider.kind, "worked": is_good}
        self.audit(request, Action.TESTED, provider, after=facts)

    def _back(self, provider: Provider) -> HttpResponse:
        address = reverse("admin:copilot_admin_provider_change", args=[provider.pk])
        return HttpResponseRedirect(f"{address}#provider-trial")


def _model_in(request: HttpRequest) -> str:
    return request.POST.get("model", "").strip()[:LONGEST_MODEL]


def _tested(provider: ProviderSpec, model: str) -> tuple[bool, str]:
    try:
        trial = try_provider(make_provider(provider), model=model)
    except (RunError, ConfigurationError) as error:
        return False, _not_working(error.public)
    if trial.problem:
        return False, _not_working(trial.problem)
    text = _("Working: %(model)s answered, first text after %(ms)d ms.")
    return True, text % {"model": trial.model, "ms": trial.first_token_ms}


def _not_working(why: str) -> str:
    return _("Not working: %s") % why


def _found(models: tuple[str, ...]) -> str:
    text = ngettext("One model found.", "%(count)d models found.", len(models))
    return text % {"count": len(models)}
