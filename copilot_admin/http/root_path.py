"""Takes away the header with which Daphne lets any client choose the root path."""

from copilot_admin.http.asgi_types import App, Receive, Scope, Send

DAPHNE_ROOT_PATH = b"daphne-root-path"


class WithoutClientRootPath:
    """ASGI middleware: a client has no say in where this application is mounted."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        names = {key for key, _ in scope.get("headers", ())}
        if DAPHNE_ROOT_PATH in names:
            headers = [row for row in scope["headers"] if row[0] != DAPHNE_ROOT_PATH]
            scope = {**scope, "headers": headers, "root_path": ""}
        await self.app(scope, receive, send)
