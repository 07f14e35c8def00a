"""The HTTP API: its routers, and how errors are said in it."""

from django.conf import settings
from django.contrib.admin.views.decorators import staff_member_required
from django.http import HttpRequest, HttpResponse
from ninja import NinjaAPI

from copilot_admin.api import discovery, feedback, images, query
from copilot_admin.errors import RequestError, Unavailable

api = NinjaAPI(
    title="Copilot Admin",
    description="Discovery and streaming queries of the copilots on this server.",
    version="1",
    docs_url="/docs",
    openapi_url="/openapi.json",
    docs_decorator=staff_member_required if settings.PRODUCTION else None,
)
api.add_router("", discovery.router)
api.add_router("/v1", query.router)
api.add_router("/v1", images.router)
api.add_router("/v1", feedback.router)


@api.exception_handler(RequestError)
def say_error(request: HttpRequest, error: RequestError) -> HttpResponse:
    """Every error has one shape: `{"detail": what to do, "code": slug}`."""
    response = api.create_response(
        request, {"detail": error.public, "code": error.code}, status=error.status
    )
    response["Cache-Control"] = "no-store"
    if isinstance(error, Unavailable):
        response["Retry-After"] = str(error.retry_after)
    return response
