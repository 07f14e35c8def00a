"""The HTTP API: its routers and its error responses."""

from typing import Any

from django.conf import settings
from django.contrib.admin.views.decorators import staff_member_required
from django.http import HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.openapi.schema import OpenAPISchema

from copilot_admin.api import components, discovery, feedback, query
from copilot_admin.api.schemas import SECURITY_SCHEMES, SHARED_SCHEMAS
from copilot_admin.errors import RequestError, Unavailable
from copilot_admin.http.errors import build_error_response, build_unavailable_response
from copilot_admin.telemetry.finished_runs import notify_rejection


class _Api(NinjaAPI):
    """API whose views authenticate and read bodies; its document says so."""

    def get_openapi_schema(self, **options: Any) -> OpenAPISchema:
        schema = super().get_openapi_schema(**options)
        schema["components"]["securitySchemes"] = SECURITY_SCHEMES
        schema["components"]["schemas"].update(SHARED_SCHEMAS)
        return schema


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
    notify_rejection(error)
    if isinstance(error, Unavailable):
        return build_unavailable_response(request, error)
    return build_error_response(request, error)
