"""Lets an address of discovery or of a copilot have slashes too many.

Whoever enters a gateway's address with a slash at its end asks for `//agents.json`, and there are
gateways that end every path with a slash. Outside everything that looks at paths.
"""

from urllib.parse import quote

from copilot_admin.http.asgi_types import DISCOVERY_PATHS, App, Receive, Scope, Send

_COPILOT_PATH = "/v1/"


class WithoutStraySlashes:
    """ASGI middleware: such a request is served as if its address had been written right."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if scope["type"] == "http":
            path = without_stray_slashes(scope["path"])
            if path != scope["path"]:
                scope = {**scope, "path": path, "raw_path": quote(path).encode()}
        await self.app(scope, receive, send)


def without_stray_slashes(path: str) -> str:
    """The path with single slashes and none at its end, if it is then one of these addresses.

    Examples:
        >>> without_stray_slashes("//agents.json"), without_stray_slashes("/admin/")
        ('/agents.json', '/admin/')
    """
    plain = "/" + "/".join(filter(None, path.split("/")))
    is_ours = plain in DISCOVERY_PATHS or plain.startswith(_COPILOT_PATH)
    return plain if is_ours else path
