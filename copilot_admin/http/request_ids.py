"""The id by which a caller of the component API finds its request."""

from typing import cast

from django.http import HttpRequest

from copilot_admin.http.asgi_types import REQUEST_ID_KEY, is_component_api
from copilot_admin.ids import request_id


def request_id_of(request: HttpRequest) -> str | None:
    """The id that the edge gave the request; None outside the component API.

    Django's test client comes without an edge: the request gets its id here.
    """
    if not is_component_api(request.path_info):
        return None
    scope = getattr(request, "scope", request.META)
    if REQUEST_ID_KEY not in scope:
        header = request.headers.get("X-Appbuilder-Request-Id")
        scope[REQUEST_ID_KEY] = request_id(None if header is None else header.encode())
    return cast(str, scope[REQUEST_ID_KEY])
