"""Provider test, saved or as typed."""

import asyncio
from contextlib import aclosing
from dataclasses import dataclass, replace
from time import monotonic

from asgiref.sync import async_to_sync
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

from copilot_admin.admin.common.base import BaseAdmin
from copilot_admin.admin.providers.form import ProviderForm
from copilot_admin.admin.providers.option_fields import changed_options
from copilot_admin.agent.providers.registry import make_provider
from copilot_admin.agent.values.model_call import (
    Finish,
    ModelCall,
    ModelMessage,
    ModelProvider,
    ModelRole,
    ReasoningDelta,
    TextDelta,
    ToolCall,
    ToolSchema,
)
from copilot_admin.agent.values.spec import ProviderSpec
from copilot_admin.config import logs
from copilot_admin.copilots.model_lists import keep_models, models_of
from copilot_admin.copilots.providers import check_key_variable, provider_spec, read_timeouts
from copilot_admin.errors import ConfigurationError, RunError
from copilot_admin.models import Action, Provider

QUESTION = "Answer with the one word: ready"
# Copilots offer tools; a model or server that takes none is to be noticed here.
TOOL = ToolSchema(
    name="current_time",
    description="The current time. Not needed for this question.",
    parameters={"type": "object", "properties": {}},
)
PATIENCE_S = 30.0  # a person waits for the page; the provider's own patience is for answers


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderTrial:
    """Whether a provider answered when it was tested, with the sentence to show.

    Attributes:
        first_token_ms: Milliseconds to the first piece of text; None when none came.
        problem: What went wrong, in words; empty when all went well.
    """

    model: str
    first_token_ms: int | None = None
    problem: str = ""


def try_provider(provider: ModelProvider, *, model: str) -> ProviderTrial:
    """Asks the model for one word and stops at the first piece of it.

    Args:
        provider: Ready to be asked.
        model: Its id; empty: the first that the provider offers.
    """
    return async_to_sync(_try)(provider, model)


async def _try(provider: ModelProvider, model: str) -> ProviderTrial:
    try:
        async with asyncio.timeout(PATIENCE_S):
            wanted = model or next(iter(await provider.models()), "")
            if not wanted:
                return ProviderTrial(
                    model="", problem=_("The provider offers no model. Name one to try.")
                )
            return ProviderTrial(
                model=wanted, first_token_ms=await _first_token_ms(provider, wanted)
            )
    except TimeoutError:
        waited = _("No text came within %(seconds)d seconds.") % {"seconds": PATIENCE_S}
        return ProviderTrial(model=model, problem=waited)
    except (RunError, ConfigurationError) as error:
        return ProviderTrial(model=model, problem=with_words(error))


async def _first_token_ms(provider: ModelProvider, model: str) -> int:
    call = ModelCall(
        model=model,
        messages=(
            ModelMessage(role=ModelRole.SYSTEM, text="You are tested."),
            ModelMessage(role=ModelRole.USER, text=QUESTION),
        ),
        tools=(TOOL,),
    )
    started = monotonic()
    async with aclosing(provider.stream(call)) as deltas:
        async for delta in deltas:
            match delta:
                case TextDelta() | ReasoningDelta() | ToolCall() | Finish():
                    break
    return round((monotonic() - started) * 1000)


UNUSED = "name"  # what is called nothing yet can be tried


def spec_of_form(form: ProviderForm) -> ProviderSpec:
    """The provider that a sent form describes; the form's instance is not fit to be saved afterwards.

    A key, stored or in a variable, goes to the servers that it was saved with and nowhere else.

    Raises:
        ConfigurationError: Something in the form is wrong, or its key cannot be had.
    """
    wrong = [
        f"{form.fields[name].label}: {sentence}" if name in form.fields else str(sentence)
        for name, sentences in form.errors.items()
        if name != UNUSED
        for sentence in sentences
    ]
    if wrong:
        raise ConfigurationError(_("Mend this first. %(faults)s") % {"faults": " ".join(wrong)})
    provider = form.instance
    if form.new_key is not None:
        provider.api_key_cipher = ""
    if form.new_key:
        provider.api_key_env = ""  # what was typed takes precedence
    provider.options = changed_options(form.cleaned_data)
    provider.headers_cipher = ""
    check_key_variable(provider)
    spec = provider_spec(provider)
    spec = replace(
        spec,
        timeouts=read_timeouts(form.timeouts),
        options=replace(spec.options, headers=tuple(form.new_headers.items())),
    )
    if form.new_key:
        logs.hide(form.new_key)
        return replace(spec, api_key=form.new_key)
    return spec


LONGEST_MODEL = 200
# Where one of these was changed, another server may have answered than the one that is saved.
WHERE = frozenset({"kind", "base_url", "api_key", "clear_key", "api_key_env"})


class TrialViews(BaseAdmin[Provider]):
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
            self.message_user(request, with_words(error), level=messages.ERROR)
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
            return JsonResponse({"is_good": False, "sentence": with_words(error), "models": []})
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
        return False, _not_working(with_words(error))
    if trial.problem:
        return False, _not_working(trial.problem)
    text = _("Working: %(model)s answered, first text after %(ms)d ms.")
    return True, text % {"model": trial.model, "ms": trial.first_token_ms}


def with_words(error: RunError | ConfigurationError) -> str:
    """Return the sentence of an error with the provider's own words, if there are any."""
    words = getattr(error, "detail", "")
    if not words:
        return error.public
    return _("%(sentence)s The provider's words: %(words)s") % {
        "sentence": error.public,
        "words": words,
    }


def _not_working(why: str) -> str:
    return _("Not working: %s") % why


def _found(models: tuple[str, ...]) -> str:
    text = ngettext("One model found.", "%(count)d models found.", len(models))
    return text % {"count": len(models)}
