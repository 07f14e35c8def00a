"""Lets nobody go on for longer than the firm's log-in vouches for him."""

from contextlib import suppress
from hashlib import sha256
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import auth
from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import DisallowedRedirect
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.deprecation import MiddlewareMixin

from copilot_admin.accounts.external_accounts import Identity, get_or_create_account, parse_groups
from copilot_admin.accounts.sessions import touch_session, update_session_key
from copilot_admin.accounts.sso_session import sso_session_age
from copilot_admin.admin.logins.oidc_views import refused
from copilot_admin.admin.logins.sessions import LoginSource, let_in, vouching_of
from copilot_admin.config.sso import SsoSettings
from copilot_admin.errors import Forbidden
from copilot_admin.http.proxy_identity import REMOTE_USER_KEY, RemoteUser
from copilot_admin.http.scope import HEALTH_PATHS, is_api

PROXY_ISSUER = "proxy"
PROXY_SECONDS = 60.0  # so long what a proxy said before is not looked up again


class PageFirmLogIns(MiddlewareMixin):
    """Renews what was vouched for, asks the proxy's header, and ends what is too old."""

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        if is_api(request.path_info) or request.path_info in HEALTH_PATHS:
            return None  # programs have no session
        firm: SsoSettings = settings.SSO
        if firm.proxy.is_configured and not _is_emergency(request):
            answer = _by_proxy(request, firm)
        else:
            answer = _renewed(request, firm)
        if answer is None and isinstance(request.user, User):
            touch_session(request)
            vars(request)["session_key_before"] = request.session.session_key
        return answer

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        before = vars(request).get("session_key_before")
        if before is not None and before != request.session.session_key:
            update_session_key(request)
        return response


def _by_proxy(request: HttpRequest, firm: SsoSettings) -> HttpResponse | None:
    person: RemoteUser | None = getattr(request, "scope", {}).get(REMOTE_USER_KEY)
    vouching = vouching_of(request)
    if person is None:
        if vouching is not None:
            auth.logout(request)
        return None
    mark = sha256(repr((person.user, person.groups)).encode()).hexdigest()
    if (
        vouching is not None
        and vouching.mark == mark
        and request.user.is_authenticated
        and sso_session_age(vouching.at) < PROXY_SECONDS
    ):
        return None
    vouched = Identity(
        issuer=PROXY_ISSUER,
        subject=person.user,
        username=person.user,
        groups=parse_groups(person.groups),
    )
    try:
        user = get_or_create_account(vouched, firm.proxy)
    except Forbidden as error:
        auth.logout(request)
        return refused(request, error)
    let_in(request, user, source=LoginSource.PROXY, mark=mark)
    return None


def _renewed(request: HttpRequest, firm: SsoSettings) -> HttpResponse | None:
    """Has the provider vouch again from half the time on; after all of it nobody is anybody.

    Only the opening of a page leads by the provider; anything else would lose what it sends.
    """
    vouching = vouching_of(request)
    if vouching is None or request.path.startswith(reverse("firm:start").removesuffix("start/")):
        return None
    if vouching.source is not LoginSource.OIDC or not firm.oidc.is_configured:
        auth.logout(request)  # the setting that it came by is gone
        return None
    age = sso_session_age(vouching.at)
    limit = firm.oidc.minutes * 60
    if age > limit / 2 and _opens_a_page(request):
        asked = urlencode({"silent": "1", "next": request.get_full_path()})
        # Too long an address to come back to is none: another page renews.
        with suppress(DisallowedRedirect):
            return HttpResponseRedirect(f"{reverse('firm:start')}?{asked}")
    if age > limit and request.path != reverse("admin:logout"):
        _nobody(request)
    return None


def _nobody(request: HttpRequest) -> None:
    async def anonymous() -> AnonymousUser:
        return AnonymousUser()

    request.user = AnonymousUser()
    request.auser = anonymous


def _opens_a_page(request: HttpRequest) -> bool:
    if request.method != "GET":
        return False
    kind = request.headers.get("Sec-Fetch-Dest")
    return kind == "document" if kind else "text/html" in request.headers.get("Accept", "")


def _is_emergency(request: HttpRequest) -> bool:
    is_by_password = request.user.is_authenticated and vouching_of(request) is None
    return is_by_password or request.path == reverse("admin:emergency")
