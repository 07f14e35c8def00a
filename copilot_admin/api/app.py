"""The HTTP API: its routers, and how errors are said in it."""

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

from copilot_admin.api import components, discovery, feedback, images, query
from copilot_admin.api.documentation import SECURITY_SCHEMES
from copilot_admin.errors import (
    MethodNotAllowed,
    RequestError,
    Unauthorized,
    Unavailable,
)
from copilot_admin.http.errors import (
    build_error_body,
    build_retry_headers,
    get_request_id,
    log_unavailable,
    skip_request_log,
)
from copilot_admin.telemetry.finished_runs import notify_rejection


class _Api(NinjaAPI):
    """The framework's own, with the keys in its document: it does not authenticate, the views do."""

    def get_openapi_schema(self, **options: Any) -> OpenAPISchema:
        """The OpenAPI document."""
        schema = super().get_openapi_schema(**options)
        schema["components"]["securitySchemes"] = SECURITY_SCHEMES
        return schema

    def _get_urls(self) -> list[URLResolver | URLPattern]:
        urls = super()._get_urls()
        for url in urls:
            if isinstance(url, URLPattern) and iscoroutinefunction(url.callback):
                url.callback = _refusing_others(url.callback)
        return urls


def _refusing_others(view: Callable[..., Awaitable[HttpResponseBase]]) -> Callable[..., Any]:
    @wraps(view)
    async def refusing(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        response = await view(request, *args, **kwargs)
        if not isinstance(response, HttpResponseNotAllowed):
            return response
        allowed = sorted(response["Allow"].split(", "))
        sentence = f"{request.method} is not served here. Send {' or '.join(allowed)}."
        return say_error(request, MethodNotAllowed(sentence, allowed=", ".join(allowed)))

    return refusing


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
api.add_router("/v1", images.router)
api.add_router("/v1", feedback.router)
api.add_router("/v2", components.router)


@api.exception_handler(RequestError)
def say_error(request: HttpRequest, error: RequestError) -> HttpResponse:
    """Every error has the shape of its part of the API, and says what to do."""
    notify_rejection(error)
    body = build_error_body(error, get_request_id(request))
    response = api.create_response(request, body, status=error.status)
    for name, value in {"Cache-Control": "no-store", **build_retry_headers(error)}.items():
        response[name] = value
    match error:
        case Unavailable():
            log_unavailable(error)
            skip_request_log(response)
        case MethodNotAllowed():
            response["Allow"] = error.allowed
        case Unauthorized():
            response["WWW-Authenticate"] = "Bearer"  # RFC 9110, 15.5.2
        case _:
            pass
    return response
