"""The pages on which components are tried: a form, its result, and the result while it comes."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from typing import Any

from asgiref.sync import async_to_sync
from django.contrib.admin import AdminSite
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import URLPattern, URLResolver, path
from django.utils import translation
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from copilot_admin.admin.common.component_words import component_or_404
from copilot_admin.admin.components.trial import MOST_LISTED, ComponentTrial, TrialResult, raw
from copilot_admin.admin.components.trial_form import TrialForm, initial_of
from copilot_admin.agent.components.base import Component
from copilot_admin.agent.server_tools import title_of
from copilot_admin.http.streams import EventStreamResponse
from copilot_admin.rendering.text import pretty_json
from protocol.sse import encode

FOLDER = "admin/copilot_admin/component"
TRY = "copilot_admin.change_copilot"
LONGEST_NUMBER = 9  # digits; of thousands Python makes no number


class ComponentTrialViews(AdminSite):
    """Whoever may change copilots may try what they call: a try may cost tokens."""

    def get_urls(self) -> list[URLPattern | URLResolver]:
        at = "components/<slug:name>/<str:version>/try/"
        own: list[URLPattern | URLResolver] = [
            path(at, self.admin_view(self.try_view), name="component_try"),
            path(f"{at}stream/", self.admin_view(self.stream_view), name="component_stream"),
        ]
        return own + super().get_urls()

    @method_decorator(require_http_methods(["GET", "HEAD", "POST"]))
    def try_view(self, request: HttpRequest, name: str, version: str) -> HttpResponseBase:
        """The form; a POST carries it out and shows the whole result."""
        component = _component(request, name, version)
        if request.method != "POST":
            sample = _place(request.GET.get("sample", ""))
            initial = initial_of(component, sample, user=request.user)
            return self._trial_page(
                request, TrialForm(component, initial=initial, user=request.user)
            )
        form = TrialForm(component, request.POST, request.FILES, user=request.user)
        if not form.is_valid():
            return self._trial_page(request, form)
        trial = ComponentTrial(form.run(uid=f"user:{request.user.pk}"))
        async_to_sync(trial.finish)()
        result = trial.result()
        if result.refusal:
            form.add_error("arguments", result.refusal)
        return self._trial_page(request, form, result=result)

    @method_decorator(require_POST)
    def stream_view(self, request: HttpRequest, name: str, version: str) -> HttpResponseBase:
        """The same while it comes: outputs as JSON, at the end the result as HTML."""
        component = _component(request, name, version)
        form = TrialForm(component, request.POST, request.FILES, user=request.user)
        if not form.is_valid():
            sentences = [str(one) for errors in form.errors.values() for one in errors]
            frames = _refused(" ".join(sentences))
        else:
            frames = _frames(
                ComponentTrial(form.run(uid=f"user:{request.user.pk}")),
                language=translation.get_language(),
            )
        return EventStreamResponse(frames, on_close=lambda: None)

    def _trial_page(
        self, request: HttpRequest, form: TrialForm, *, result: TrialResult | None = None
    ) -> HttpResponseBase:
        component = form.component
        context: dict[str, Any] = {
            "title": _("Try %(name)s") % {"name": title_of(component.name)},
            "component": component,
            "component_title": title_of(component.name),
            "form": form,
            "schema": pretty_json(component.parameters()),
            "samples": range(1, len(component.samples) + 1),
            "result": result,
            "most_listed": MOST_LISTED,
        }
        return render(request, f"{FOLDER}/try.html", {**self.each_context(request), **context})


def _place(number: str) -> int:
    is_number = number.isascii() and number.isdecimal()
    return max(int(number[:LONGEST_NUMBER]) - 1, 0) if is_number else 0


def _component(request: HttpRequest, name: str, version: str) -> type[Component]:
    if not request.user.has_perm(TRY):
        raise PermissionDenied
    return component_or_404(name, version)


async def _refused(sentence: str) -> AsyncGenerator[bytes, None]:
    yield encode("refusal", {"sentence": sentence})


async def _frames(trial: ComponentTrial, *, language: str | None) -> AsyncGenerator[bytes, None]:
    count = 0
    async with aclosing(trial.outputs()) as outputs:
        async for output in outputs:
            count += 1
            if count <= MOST_LISTED:
                yield encode("output", {"json": raw(output)})
    result = await asyncio.to_thread(trial.result)
    if result.refusal:
        yield encode("refusal", {"sentence": result.refusal})
    html = await asyncio.to_thread(partial(_drawn, result, language=language))
    yield encode("result", {"html": html, "more": count > MOST_LISTED})


def _drawn(result: TrialResult, *, language: str | None) -> str:
    with translation.override(language):
        return render_to_string(f"{FOLDER}/result.html", {"result": result})
