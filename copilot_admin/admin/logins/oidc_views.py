"""The way to the provider of OpenID Connect and back."""

from collections.abc import Mapping
from http import HTTPStatus
import logging
import time
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import auth
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.crypto import get_random_string
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from mozilla_django_oidc.utils import (
    add_state_and_verifier_and_nonce_to_session,
    generate_code_challenge,
)
from mozilla_django_oidc.views import get_next_url

from copilot_admin.accounts.external_accounts import get_or_create_account
from copilot_admin.admin.logins.sessions import LoginSource, let_in
from copilot_admin.admin.logins.sign_in_limits import client_address, within
from copilot_admin.config.sso import OidcProvider
from copilot_admin.errors import Forbidden, RequestError, Unauthorized
from copilot_admin.http.errors import build_retry_headers
from copilot_admin.http.origins import get_base_url

STATES = "oidc_states"  # where the library keeps them in the session
STATE_SECONDS = 600.0  # so long somebody may take to log in at the provider
SECRET_LENGTH = 64
# Begun in a minute by those of a network who are nobody yet: each keeps a row for ten minutes. A
# firm of five hundred behind one address comes in the morning.
MOST_STARTS = 120
START_SECONDS = 60
# What a provider says where it would have to ask: then it may.
# https://openid.net/specs/openid-connect-core-1_0.html#AuthError
HAS_TO_ASK = frozenset(
    {"login_required", "interaction_required", "consent_required", "account_selection_required"}
)
_NOT_BEGUN = gettext_noop(
    "This log-in was not begun here, was used already, or took too long. Begin again."
)

logger = logging.getLogger(__name__)


@require_safe
@never_cache
def start(request: HttpRequest) -> HttpResponse:
    """Sends somebody to the provider; with `?silent=1` it may not ask him anything."""
    # With it comes `requests`, for which nobody waits at the start.
    from copilot_admin.admin.logins.discovery import endpoints_of

    provider = _provider()
    if not _may_begin(request):
        answer = render(request, "too_many_log_ins.html", status=HTTPStatus.TOO_MANY_REQUESTS)
        answer["Retry-After"] = str(START_SECONDS)
        return answer
    following = get_next_url(request, "next") or reverse("admin:index")
    try:
        endpoints = endpoints_of(provider)
    except RequestError as error:
        return refused(request, error, following=following)
    state, nonce, verifier = (get_random_string(SECRET_LENGTH) for _ in range(3))
    is_silent = request.GET.get("silent") == "1"
    asked = {
        "response_type": "code",
        "scope": provider.scopes,
        "client_id": provider.client_id,
        "redirect_uri": _redirect_uri(request),
        "state": state,
        "nonce": nonce,
        "code_challenge": generate_code_challenge(verifier, "S256"),
        "code_challenge_method": "S256",
        **({"prompt": "none"} if is_silent else {}),
    }
    if not request.user.is_authenticated:
        request.session.set_expiry(int(STATE_SECONDS))
    add_state_and_verifier_and_nonce_to_session(request, state, asked, verifier)
    request.session[STATES][state] |= {"next": following, "silent": is_silent}
    request.session.modified = True
    return HttpResponseRedirect(_with(endpoints.authorization, asked))


@require_safe
@never_cache
def callback(request: HttpRequest) -> HttpResponse:
    """Where the provider sends somebody back to."""
    provider = _provider()
    begun = _begun(request)
    if begun is None:
        return refused(request, Unauthorized(_(_NOT_BEGUN)))
    following = str(begun["next"])
    try:
        return _let_in(request, provider, begun) or HttpResponseRedirect(following)
    except RequestError as error:
        if isinstance(error, Forbidden):
            auth.logout(request)  # whatever he was, he is not any more
        return refused(request, error, following=following)


def _let_in(
    request: HttpRequest, provider: OidcProvider, begun: Mapping[str, Any]
) -> HttpResponse | None:
    """Logs in whom the provider vouches for; an answer only where he is asked once more.

    Raises:
        RequestError: He is not let in.
    """
    from copilot_admin.admin.logins.discovery import endpoints_of
    from copilot_admin.admin.logins.exchange import CodeExchange

    fault = request.GET.get("error", "")
    if begun["silent"] and fault in HAS_TO_ASK:
        again = urlencode({"next": begun["next"]})
        return HttpResponseRedirect(f"{reverse('firm:start')}?{again}")
    if fault:
        raise Forbidden(
            _("Your firm's log-in let nobody in. Log in again, or ask an administrator.")
        )
    vouched, token = CodeExchange(provider, endpoints_of(provider)).person(
        request.GET.get("code", ""),
        redirect_uri=_redirect_uri(request),
        verifier=begun["code_verifier"],
        nonce=begun["nonce"],
    )
    user = get_or_create_account(vouched, provider)
    let_in(request, user, source=LoginSource.OIDC, id_token=token)
    return None


def _begun(request: HttpRequest) -> Mapping[str, Any] | None:
    states = request.session.get(STATES)
    state = request.GET.get("state", "")
    if not isinstance(states, dict) or state not in states:
        return None
    found: Mapping[str, Any] = states.pop(state)
    request.session[STATES] = states
    request.session.save()  # now: asking the provider takes a while
    return found if time.time() - found["added_on"] < STATE_SECONDS else None


def refused(request: HttpRequest, error: RequestError, *, following: str = "") -> HttpResponse:
    """The page that says why somebody was not let in."""
    logger.warning("Log-in with the firm's account refused: %s", error.public)
    firm, query = settings.SSO, urlencode({"next": following})
    context: dict[str, object] = {"error": error}
    if firm.oidc.is_configured:
        context["again"] = f"{reverse('firm:start')}?{query}"
        # Where the firm's log-in is down, who has a password here need not know an address.
        context["by_password"] = (
            "" if firm.is_emergency_only else f"{reverse('admin:login')}?{query}"
        )
    page = render(request, "log_in_refused.html", context, status=error.status)
    for name, value in build_retry_headers(error).items():
        page[name] = value
    return page


def log_out_address(request: HttpRequest, id_token: str) -> str:
    """Where the provider ends its own session; empty where it has no such place.

    Source: https://openid.net/specs/openid-connect-rpinitiated-1_0.html
    """
    from copilot_admin.admin.logins.discovery import endpoints_of

    provider: OidcProvider = settings.SSO.oidc
    if not provider.is_configured:
        return ""
    try:
        address = endpoints_of(provider).end_session
    except RequestError:
        return ""
    said = {
        "client_id": provider.client_id,
        "post_logout_redirect_uri": f"{get_base_url(request)}{reverse('admin:login')}",
        **({"id_token_hint": id_token} if id_token else {}),
    }
    return _with(address, said) if address else ""


def label_of(provider: OidcProvider) -> str:
    """How the provider is called on a button."""
    return provider.label or _("your firm's account")


def _may_begin(request: HttpRequest) -> bool:
    if request.user.is_authenticated:
        return True
    return within(f"start from:{client_address(request)}", MOST_STARTS, seconds=START_SECONDS)


def _with(address: str, said: Mapping[str, str]) -> str:
    return f"{address}{'&' if '?' in address else '?'}{urlencode(said)}"


def _provider() -> OidcProvider:
    provider: OidcProvider = settings.SSO.oidc
    if not provider.is_configured:
        raise Http404
    return provider


def _redirect_uri(request: HttpRequest) -> str:
    return f"{get_base_url(request)}{reverse('firm:callback')}"
