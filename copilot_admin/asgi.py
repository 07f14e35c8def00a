"""The ASGI application: the edge around Django, and the WebSockets of the admin."""

import os
from typing import cast

from channels.routing import ProtocolTypeRouter, URLRouter
from channels.sessions import SessionMiddlewareStack
import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "copilot_admin.settings")
django.setup(set_prefix=False)  # before the imports below: they need the app registry

from django.conf import settings  # noqa: E402

from copilot_admin.api.questions import Questions  # noqa: E402
from copilot_admin.http.allowed_origins import ALLOWED_ORIGINS  # noqa: E402
from copilot_admin.http.answers_in_turn import AnswersInTurn  # noqa: E402
from copilot_admin.http.asgi_types import App  # noqa: E402
from copilot_admin.http.bodies import BodyLimits  # noqa: E402
from copilot_admin.http.bounded_cookies import BoundedCookies  # noqa: E402
from copilot_admin.http.cors import Cors, Preflights  # noqa: E402
from copilot_admin.http.django_handler import Handler  # noqa: E402
from copilot_admin.http.fair_starts import FairStarts  # noqa: E402
from copilot_admin.http.header_limits import HeaderLimits  # noqa: E402
from copilot_admin.http.ids import RequestIds  # noqa: E402
from copilot_admin.http.lifespan import Lifespan  # noqa: E402
from copilot_admin.http.log_in_proxy import LogInProxy  # noqa: E402
from copilot_admin.http.metrics_page import MetricsPage  # noqa: E402
from copilot_admin.http.nul_addresses import WithoutNulAddresses  # noqa: E402
from copilot_admin.http.proxy_headers import trust_forwarded_headers  # noqa: E402
from copilot_admin.http.proxy_users import ProxyUsers  # noqa: E402
from copilot_admin.http.request_counts import RequestCounts  # noqa: E402
from copilot_admin.http.request_end import SharedRequestEnd  # noqa: E402
from copilot_admin.http.root_path import WithoutClientRootPath  # noqa: E402
from copilot_admin.http.security_headers import SecurityHeaders  # noqa: E402
from copilot_admin.http.signals import keep_start_in_event_loop  # noqa: E402
from copilot_admin.http.slowed_guesses import SlowedGuesses  # noqa: E402
from copilot_admin.http.static_files import static_files  # noqa: E402
from copilot_admin.http.stray_slashes import WithoutStraySlashes  # noqa: E402
from copilot_admin.http.websocket_origins import SameOriginSockets  # noqa: E402
from copilot_admin.runs.oversized_bodies import record_oversized  # noqa: E402
from copilot_admin.runs.watching import websocket_urlpatterns  # noqa: E402
from copilot_admin.server import lifecycle  # noqa: E402
from copilot_admin.server.gauges import refresh_gauges  # noqa: E402
from copilot_admin.telemetry.metrics import start_counting  # noqa: E402

django_application = Handler()


def _headers_of_clients() -> tuple[str, ...]:
    """Request headers that clients may send besides the usual ones."""
    tokens = settings.USER_TOKENS
    return (*settings.CORS_HEADERS, *((tokens.header,) if tokens and tokens.header else ()))


def _build() -> App:
    keep_start_in_event_loop()
    app: App = ProtocolTypeRouter(
        {
            "http": static_files(AnswersInTurn(cast(App, django_application))),
            "websocket": SameOriginSockets(
                SessionMiddlewareStack(URLRouter(websocket_urlpatterns))
            ),
        }
    )
    app = Questions(SharedRequestEnd(app))
    app = BodyLimits(app, max_bytes=settings.MAX_BODY_BYTES, on_refusal=record_oversized)
    app = SlowedGuesses(app)
    app = WithoutNulAddresses(BoundedCookies(app))
    app = ProxyUsers(app, settings.USER_PROXIES)
    app = LogInProxy(app, settings.FIRM_LOG_IN.proxy)
    app = Preflights(app, origins=ALLOWED_ORIGINS, extra_headers=_headers_of_clients())
    readers, counter = settings.METRICS_READERS, None
    if readers.are_there:
        counter = start_counting()
        app = MetricsPage(app, figures=counter, readers=readers, refresh=refresh_gauges)
    app = RequestIds(HeaderLimits(app))
    app = SecurityHeaders(Cors(app, origins=ALLOWED_ORIGINS))
    app = WithoutStraySlashes(app)
    app = WithoutClientRootPath(app)
    app = RequestCounts(app, counter) if counter else app
    app = trust_forwarded_headers(FairStarts(app), settings.FORWARDED_ALLOW_IPS)
    return Lifespan(app, start=lifecycle.start, stop=lifecycle.stop)


application = _build()
