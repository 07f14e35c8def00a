"""The ASGI application: middleware, Django, and the WebSockets of the admin."""

from collections.abc import Awaitable, Callable
import os
from typing import TypeAlias, cast

from channels.routing import ProtocolTypeRouter, URLRouter
from channels.sessions import SessionMiddlewareStack
from django.core.asgi import get_asgi_application
from servestatic import ServeStaticASGI
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "copilot_admin.settings")
django_application = get_asgi_application()  # before the imports below: they need the app registry

from django.conf import settings  # noqa: E402
from django.contrib.staticfiles.finders import get_finders  # noqa: E402

from copilot_admin.api.query import Questions  # noqa: E402
from copilot_admin.errors import CopilotError  # noqa: E402
from copilot_admin.http.body_limit import BodyLimit  # noqa: E402
from copilot_admin.http.middleware import (  # noqa: E402
    HttpMiddleware,
    allow_own_origin,
    serve_metrics,
)
from copilot_admin.http.proxy_identity import ProxyIdentity  # noqa: E402
from copilot_admin.http.scope import App, Receive, Scope, Send  # noqa: E402
from copilot_admin.runs.live_updates import websocket_urlpatterns  # noqa: E402
from copilot_admin.server import lifecycle  # noqa: E402
from copilot_admin.server.periodic_tasks import refresh_gauges  # noqa: E402
from copilot_admin.telemetry.metrics import enable_metrics  # noqa: E402

Hook: TypeAlias = Callable[[], Awaitable[None]]


def with_lifespan(app: App, *, start: Hook, stop: Hook) -> App:
    """Return an application that runs a hook before the first and one after the last request."""

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan":
            await app(scope, receive, send)
            return
        await receive()
        try:
            await start()
        except CopilotError as error:
            await send({"type": "lifespan.startup.failed", "message": error.public})
            return
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await stop()
        await send({"type": "lifespan.shutdown.complete"})

    return serve


def serve_static_files(app: App) -> App:
    """Return an application that serves `STATIC_URL` from the static folder of every app.

    Each file is looked up when it is requested: one that an upgrade replaced under a running
    server would be sent with its old length otherwise.
    """
    static = ServeStaticASGI(app, autorefresh=True, allow_all_origins=False)
    for finder in get_finders():
        for storage in getattr(finder, "storages", {}).values():
            static.add_files(storage.location, prefix=settings.STATIC_URL)

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        # A lookup takes a thread, so other paths skip it.
        is_static = scope["path"].startswith(settings.STATIC_URL)
        await (static if is_static else app)(scope, receive, send)

    return serve


def build_application() -> App:
    """Return the whole application; each layer wraps those before it."""
    app: App = ProtocolTypeRouter(
        {
            "http": serve_static_files(cast(App, django_application)),
            "websocket": allow_own_origin(SessionMiddlewareStack(URLRouter(websocket_urlpatterns))),
        }
    )
    app = BodyLimit(Questions(app), max_bytes=settings.MAX_BODY_BYTES)
    counter = None
    if settings.METRICS.is_enabled:
        counter = enable_metrics()
        app = serve_metrics(app, metrics=counter, readers=settings.METRICS, refresh=refresh_gauges)
    tokens = settings.USER_TOKENS
    headers = (*settings.CORS_HEADERS, *([tokens.header] if tokens and tokens.header else []))
    app = HttpMiddleware(app, extra_headers=headers, counter=counter)
    # The server runs without its own, so that identities are read by the address of the peer.
    app = cast(App, ProxyHeadersMiddleware(app, settings.FORWARDED_ALLOW_IPS))  # type: ignore[arg-type]
    app = ProxyIdentity(app, remote_user=settings.SSO.proxy, end_user=settings.USER_PROXIES)
    return with_lifespan(app, start=lifecycle.start, stop=lifecycle.stop)


application = build_application()
