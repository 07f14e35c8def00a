"""What a path is called where paths are counted: a closed set of names, whatever strangers send."""

import re

OTHER = "other"
METHODS = frozenset({"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"})
_EXACT = frozenset(
    {
        "/",
        "/agents.json",
        "/copilots.json",
        "/docs",
        "/healthz",
        "/metrics",
        "/openapi.json",
        "/readyz",
    }
)
_OF_COPILOT = re.compile(r"/v1/copilots/[^/]+/(query|feedback|image)\Z")
_BELOW = ("/admin/", "/static/", "/v2/")


def route_name(path: str) -> str:
    """The name of a path.

    Examples:
        >>> route_name("/v1/copilots/news/query"), route_name("/wp-login.php")
        ('/v1/copilots/{slug}/query', 'other')
    """
    if path in _EXACT:
        return path
    of_copilot = _OF_COPILOT.match(path)
    if of_copilot:
        return f"/v1/copilots/{{slug}}/{of_copilot[1]}"
    return next((prefix for prefix in _BELOW if path.startswith(prefix)), OTHER)


def method_name(method: str) -> str:
    """The name of a method."""
    return method if method in METHODS else OTHER
