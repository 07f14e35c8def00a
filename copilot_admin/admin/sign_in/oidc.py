"""OpenID Connect: checks that allauth leaves to its users, and the pages around it.

Every token is verified by signature, issuer, audience, time and nonce. What a URL of this server
says (scope, process, parameters) never reaches the provider.
"""

from hmac import compare_digest
import logging
from typing import Any
from urllib.parse import urlencode

from allauth.account.utils import get_next_redirect_url
from allauth.core.internal import ratelimit
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.models import SocialLogin
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.crypto import get_random_string
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
import jwt
import requests

from copilot_admin.accounts.external_accounts import (
    MAX_EMAIL_LENGTH,
    Identity,
    parse_groups,
    sanitize_name,
)
from copilot_admin.config.variables import is_insecure
from copilot_admin.errors import RequestError, Unauthorized, Unavailable
from copilot_admin.http.errors import build_retry_headers
from copilot_admin.http.middleware import get_base_url

PROVIDER_ID = "sso"
# With public keys only, so nobody can sign with the public key as a shared secret.
ALGORITHMS = ["RS256", "PS256", "ES256"]
REQUIRED_CLAIMS = ["iss", "sub", "aud", "exp", "iat"]
LEEWAY_SECONDS = 60
STATE_SECONDS = 600  # in which a user signs in at the provider
# Of malformed answers of a provider
# `requests` raises an error of the system for a REQUESTS_CA_BUNDLE that is missing.
_CONNECTION_ERRORS = (requests.RequestException, OSError)
_MALFORMED = (LookupError, ValueError, TypeError, AttributeError, jwt.PyJWTError)
logger = logging.getLogger(__name__)


class OidcAdapter(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]  # allauth has no types
    """Client of the configured provider."""

    def __init__(self, request: HttpRequest) -> None:
        super().__init__(request, PROVIDER_ID)

    def get_provider(self) -> Any:
        provider = super().get_provider()
        provider.get_oauth2_adapter = lambda _request: self  # one discovery for a request
        return provider

    @property
    def openid_config(self) -> dict[str, Any]:
        config: dict[str, Any] = super().openid_config
        if str(config["issuer"]).rstrip("/") != settings.SSO.oidc.issuer:
            raise OAuth2Error("The provider has another issuer than COPILOT_OIDC_ISSUER.")
        urls = [config[name] for name in ("authorization_endpoint", "token_endpoint", "jwks_uri")]
        if settings.PRODUCTION and any(map(is_insecure, urls)):
            raise OAuth2Error("The provider has endpoints without https.")
        return config

    def get_callback_url(self, request: HttpRequest, app: object) -> str:
        return f"{get_base_url(request)}{reverse('sso_callback')}"

    def complete_login(self, request: HttpRequest, app: Any, token: Any, **options: Any) -> Any:
        """Return the verified claims as a login; raise OAuth2Error if they aren't trustworthy."""
        try:
            raw = options["response"]["id_token"]
            claims = self._verify(app, raw)
            if "userinfo_endpoint" in self.openid_config:
                more = self._fetch_user_info(token.token)
                if more["sub"] != claims["sub"]:
                    raise OAuth2Error("userinfo is about another user")
                protected = (*REQUIRED_CLAIMS, "nonce", "azp")
                claims |= {name: more[name] for name in more if name not in protected}
        except _MALFORMED as error:
            raise OAuth2Error("invalid answer of the provider") from error
        login = self.get_provider().sociallogin_from_response(request, {"userinfo": claims})
        login.account.extra_data = {"claims": claims, "id_token": raw}
        return login

    def _verify(self, app: Any, token: str) -> dict[str, Any]:
        claims: dict[str, Any] = jwt.decode(
            token,
            self._find_key(token),
            algorithms=ALGORITHMS,
            audience=app.client_id,
            issuer=self.openid_config["issuer"],
            leeway=LEEWAY_SECONDS,
            options={"require": REQUIRED_CLAIMS},
        )
        has_others = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
        if has_others and claims.get("azp") != app.client_id:
            raise OAuth2Error("the token is for another client")
        return claims

    def _find_key(self, token: str) -> jwt.PyJWK:
        """Return the key that a token names; if it names none, the only one."""
        name = jwt.get_unverified_header(token).get("kid")
        with get_adapter().get_requests_session() as session:
            response = session.get(self.openid_config["jwks_uri"])
            response.raise_for_status()
        keys = jwt.PyJWKSet.from_dict(response.json()).keys
        found = [key for key in keys if name in (None, key.key_id)]
        if len(found) != 1:
            raise OAuth2Error("the token names no key of the provider")
        return found[0]


@require_safe
@never_cache
def start(request: HttpRequest) -> HttpResponse:
    _check_is_configured()
    limited: HttpResponse | None = ratelimit.consume_or_429(
        request, app="allauth.account", action="sso_start", limit_get=True
    )
    if limited is not None:
        return limited
    following = get_next_redirect_url(request) or ""
    nonce = get_random_string(32)
    if not request.user.is_authenticated:
        request.session.set_expiry(STATE_SECONDS)
    options = {"next_url": following, "auth_params": {"nonce": nonce}, "nonce": nonce}
    try:
        provider = OidcAdapter(request).get_provider()
        response: HttpResponse = provider.redirect(request, process="login", **options)
    except (OAuth2Error, *_CONNECTION_ERRORS, *_MALFORMED) as error:
        text = _("Single sign-on does not answer. Try again in a minute.")
        return refuse(request, Unavailable(text), cause=error, following=following)
    return response


@require_safe
@never_cache
def callback(request: HttpRequest) -> HttpResponse:
    _check_is_configured()
    view = OAuth2CallbackView.adapter_view(OidcAdapter(request))
    response: HttpResponse = view(request)
    return response


def build_identity(login: SocialLogin) -> Identity:
    """Return the user of the verified claims; raise Unauthorized if they answer another request."""
    claims: dict[str, Any] = login.account.extra_data["claims"]
    nonce = str(login.state.get("nonce") or "")
    if not nonce or not compare_digest(str(claims.get("nonce")).encode(), nonce.encode()):
        raise Unauthorized(_("Sign-in was not completed. Try again, or ask an administrator."))
    is_verified = claims.get("email_verified") is True
    email = sanitize_name(claims.get("email"), max_length=MAX_EMAIL_LENGTH)
    return Identity(
        issuer=claims["iss"],
        subject=str(claims["sub"]),
        username=sanitize_name(claims.get("preferred_username")),
        full_name=sanitize_name(claims.get("name")),
        email=email if is_verified else "",
        groups=parse_groups(claims.get(settings.SSO.oidc.groups_claim)),
    )


def refuse(
    request: HttpRequest,
    error: RequestError,
    *,
    cause: BaseException | None = None,
    following: str = "",
) -> HttpResponse:
    """Return the page that tells a user why they aren't signed in."""
    logger.warning("Single sign-on refused: %s (%s)", error.public, type(cause).__name__)
    query = urlencode({"next": following})
    context: dict[str, object] = {"error": error}
    if settings.SSO.oidc.is_configured:
        context["again"] = f"{reverse('sso_start')}?{query}"
        if not settings.SSO.is_emergency_only:
            context["by_password"] = f"{reverse('account_login')}?{query}"
    page = render(request, "sign_in_refused.html", context, status=error.status)
    for name, value in build_retry_headers(error).items():
        page[name] = value
    return page


def build_sign_out_url(request: HttpRequest, id_token: str) -> str:
    """Return the URL at which the provider ends its own session; empty if it has none.

    Source: https://openid.net/specs/openid-connect-rpinitiated-1_0.html
    """
    if not settings.SSO.oidc.is_configured:
        return ""
    try:
        url = str(OidcAdapter(request).openid_config.get("end_session_endpoint") or "")
    except (OAuth2Error, *_CONNECTION_ERRORS, *_MALFORMED):
        return ""
    query = {
        "client_id": settings.SSO.oidc.client_id,
        "post_logout_redirect_uri": f"{get_base_url(request)}{reverse('account_login')}",
        **({"id_token_hint": id_token} if id_token else {}),
    }
    return f"{url}{'&' if '?' in url else '?'}{urlencode(query)}" if url else ""


def _check_is_configured() -> None:
    if not settings.SSO.oidc.is_configured:
        raise Http404
