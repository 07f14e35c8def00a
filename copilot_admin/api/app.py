"""The HTTP API: its routers and its error responses."""

from collections.abc import Awaitable, Callable
from functools import wraps
from inspect import iscoroutinefunction
from typing import Any

from django.conf import settings
from django.contrib.admin.views.decorators import staff_member_required
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.http.response import HttpResponseBase
from django.urls import URLPattern, URLResolver
from ninja import NinjaAPI
from ninja.openapi.schema import OpenAPISchema

from copilot_admin.api import components, discovery, feedback, query
from copilot_admin.api.schemas import SECURITY_SCHEMES, SHARED_SCHEMAS
from copilot_admin.errors import MethodNotAllowed, RequestError, Unauthorized, Unavailable
from copilot_admin.http.errors import (
    build_error_body,
    build_retry_headers,
    get_request_id,
    log_unavailable,
    skip_request_log,
)
from copilot_admin.telemetry.finished_runs import notify_rejection


class _Api(NinjaAPI):
    """API whose views authenticate and read bodies; its document says so."""

    def get_openapi_schema(self, **options: Any) -> OpenAPISchema:
        schema = super().get_openapi_schema(**options)
        schema["components"]["securitySchemes"] = SECURITY_SCHEMES
        schema["components"]["schemas"].update(SHARED_SCHEMAS)
        return schema

    def _get_urls(self) -> list[URLResolver | URLPattern]:
        urls = super()._get_urls()
        for url in urls:
            if isinstance(url, URLPattern) and iscoroutinefunction(url.callback):
                url.callback = _reject_others(url.callback)
        return urls


def _reject_others(view: Callable[..., Awaitable[HttpResponseBase]]) -> Callable[..., Any]:
    @wraps(view)
    async def respond(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        response = await view(request, *args, **kwargs)
        if not isinstance(response, HttpResponseNotAllowed):
            return response
        allowed = sorted(response["Allow"].split(", "))
        text = f"{request.method} is not served here. Send {' or '.join(allowed)}."
        return render_error(request, MethodNotAllowed(text, allowed=", ".join(allowed)))

    return respond


api = _Api(
    title="Copilot Admin",
    description="Discovery and streaming queries of the copilots on this server; components.",
    version="1",
    docs_url="/docs",
    openapi_url="/openapi.json",
    docs_decorator=staff_member_required if settings.PRODUCTION else None,
)
api.add_router("", discovery.router)
api.add_router("/v1", query.router)
api.add_router("/v1", discovery.images)
api.add_router("/v1", feedback.router)
api.add_router("/v2", components.router)


@api.exception_handler(RequestError)
def render_error(request: HttpRequest, error: RequestError) -> HttpResponse:
    """Return an error in the shape of its part of the API."""
    notify_rejection(error)
    body = build_error_body(error, get_request_id(request))
    response = api.create_response(request, body, status=error.status)
    for name, value in {"Cache-Control": "no-store", **build_retry_headers(error)}.items():
        response[name] = value
    if isinstance(error, Unavailable):
        log_unavailable(error)
        skip_request_log(response)
    elif isinstance(error, MethodNotAllowed):
        response["Allow"] = error.allowed
    elif isinstance(error, Unauthorized):
        response["WWW-Authenticate"] = "Bearer"  # RFC 9110, 15.5.2
    return response
