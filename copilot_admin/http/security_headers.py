"""Puts one strict Content-Security-Policy, and its companions, on every answer."""

from copilot_admin.http.asgi_types import App, Headers, Message, Receive, Scope, Send

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
WITH_OWN_FRAMES = f"{CONTENT_SECURITY_POLICY}; frame-src 'self'"  # of a page that shows HTML in one
HEADERS: Headers = [
    (b"content-security-policy", CONTENT_SECURITY_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
]
OURS = frozenset(name for name, _ in HEADERS)


class SecurityHeaders:
    """ASGI middleware; an answer that sets one of these headers itself keeps its own."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = list(message.get("headers", ()))
                own = {key.lower() for key, _ in given} & OURS
                message["headers"] = given + [row for row in HEADERS if row[0] not in own]
            await send(message)

        await self.app(scope, receive, send_with_headers)
