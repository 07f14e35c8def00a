"""Serves static files outside Django, so that they cost no middleware.

The files are read where the apps keep them: there is no collecting step to forget.
"""

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from servestatic import ServeStaticASGI

from copilot_admin.http.asgi_types import App, Receive, Scope, Send


def static_files(app: App) -> App:
    """Wraps an application so that it serves `STATIC_URL` from every app's static folder.

    Each file is looked up when it is asked for: one that an upgrade replaced under a running server
    would go out with the length that the old one had, and arrive cut or not at all.
    """
    server: App
    server = looking = ServeStaticASGI(app, autorefresh=True, allow_all_origins=False)
    for finder in get_finders():
        for storage in getattr(finder, "storages", {}).values():
            looking.add_files(storage.location, prefix=settings.STATIC_URL)

    async def served(scope: Scope, receive: Receive, send: Send) -> None:
        # Nothing else is looked for: a look is a visit to a thread.
        may_be_file = scope["type"] == "http" and scope["path"].startswith(settings.STATIC_URL)
        await (server if may_be_file else app)(scope, receive, send)

    return served
