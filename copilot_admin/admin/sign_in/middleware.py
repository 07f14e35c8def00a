"""Middleware of signed-in users: session limits, users of a proxy, and the second step."""

import time

from allauth.account.adapter import get_adapter
from django.conf import settings
from django.contrib import auth
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.deprecation import MiddlewareMixin
from django.utils.http import urlencode

from copilot_admin.accounts.external_accounts import Identity, get_or_create_account, parse_groups
from copilot_admin.accounts.second_factor import Step, missing_step
from copilot_admin.accounts.sessions import (
    PROXY,
    SSO,
    get_sso_source,
    is_session_valid,
    touch_session,
)
from copilot_admin.admin.sign_in.oidc import refuse
from copilot_admin.errors import Forbidden
from copilot_admin.http.proxy_identity import REMOTE_USER_KEY, RemoteUser
from copilot_admin.http.scope import HEALTH_PATHS, is_api

PROXY_ISSUER = "proxy"
PROXY_SECONDS = 60.0  # in which the same header isn't looked up again
_SET_UP_PAGES = (
    *("mfa_index", "mfa_activate_totp", "mfa_add_webauthn", "mfa_view_recovery_codes"),
    "account_reauthenticate",
)
_CONFIRM_PAGES = ("mfa_reauthenticate", "mfa_reauthenticate_webauthn")
_ALWAYS = ("account_logout", "account_login", "sso_start", "sso_callback", "jsi18n")


class SignInMiddleware(MiddlewareMixin):
    """Ends sessions that are over, signs in users of a proxy, and demands the second step."""

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        if _is_for_programs(request):
            return None
        if not request.user.is_authenticated and auth.SESSION_KEY in request.session:
            request.session.flush()  # a disabled account, or another password: over for good
        if settings.SSO.proxy.is_configured and not _is_password_session(request):
            refused = _sign_in_by_proxy(request)
            if refused is not None:
                return refused
        if request.user.is_authenticated:
            if request.user.is_staff and is_session_valid(request.session):
                touch_session(request)
            else:
                auth.logout(request)
        return None

    def process_view(self, request: HttpRequest, *_view: object) -> HttpResponse | None:
        """Lead a user to the second step that their session lacks, whichever page they open."""
        match = request.resolver_match
        page = (match.url_name if match else "") or ""
        if _is_for_programs(request) or not isinstance(request.user, User) or page in _ALWAYS:
            return None
        step = missing_step(request, request.user)
        if step is Step.SET_UP and page not in _SET_UP_PAGES:
            return redirect("mfa_index")
        if step is Step.CONFIRM and page not in _CONFIRM_PAGES:
            methods = get_adapter().get_reauthentication_methods(request.user)
            url = next(one["url"] for one in methods if one["id"].startswith("mfa_"))
            is_get = request.method == "GET"
            following = request.get_full_path() if is_get else reverse("admin:index")
            return redirect(f"{url}?{urlencode({'next': following})}")
        return None


def _is_for_programs(request: HttpRequest) -> bool:
    return is_api(request.path_info) or request.path_info in HEALTH_PATHS


def _sign_in_by_proxy(request: HttpRequest) -> HttpResponse | None:
    remote: RemoteUser | None = getattr(request, "scope", {}).get(REMOTE_USER_KEY)
    if remote is None:
        if request.user.is_authenticated:
            auth.logout(request)
        return None
    sso = request.session.get(SSO) or {}
    is_known = request.user.is_authenticated and sso.get("mark") == remote.mark
    if is_known and time.time() - sso["at"] < PROXY_SECONDS:
        return None
    groups = parse_groups(remote.groups)
    identity = Identity(
        issuer=PROXY_ISSUER, subject=remote.user, username=remote.user, groups=groups
    )
    try:
        user = get_or_create_account(identity, settings.SSO.proxy)
    except Forbidden as error:
        auth.logout(request)
        return refuse(request, error)
    if request.user.pk == user.pk and get_sso_source(request.session) == PROXY:
        request.user = user  # with the rights of today's groups
    else:
        auth.login(request, user)
    request.session[SSO] = {"source": PROXY, "mark": remote.mark, "at": time.time()}
    return None


def _is_password_session(request: HttpRequest) -> bool:
    is_by_password = request.user.is_authenticated and not get_sso_source(request.session)
    is_pending = "account_login" in request.session  # between password and second step
    return is_by_password or is_pending or request.path == reverse("account_emergency")
