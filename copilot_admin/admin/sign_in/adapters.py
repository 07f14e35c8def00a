"""Rules of this product for allauth: users who may sign in, limits of guesses, encrypted secrets."""

import io
import logging
import time
from typing import Any
from urllib.parse import urlsplit

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.internal.flows.login import get_authentication_records
from allauth.account.signals import password_changed, password_reset
from allauth.core import context
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.core.internal import ratelimit
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialApp, SocialLogin
from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.crypto import salted_hmac
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
import qrcode
from qrcode.image.svg import SvgPathFillImage

from copilot_admin.accounts.external_accounts import get_or_create_account
from copilot_admin.accounts.second_factor import SECRETS, is_second_factor_required
from copilot_admin.accounts.sessions import OIDC, PROXY, SSO, get_sso_source
from copilot_admin.admin.sign_in.forms import may_use_password
from copilot_admin.admin.sign_in.oidc import PROVIDER_ID, build_identity, refuse
from copilot_admin.audit.recording import Actor, Subject, record, record_read
from copilot_admin.config.encryption import decrypt, encrypt
from copilot_admin.config.sso import OidcProvider
from copilot_admin.errors import RequestError, Unauthorized
from copilot_admin.http.scope import get_client_network
from copilot_admin.models import Action

NO_ADDRESS = "0.0.0.0"  # noqa: S104  # the client of a Unix socket
FRESH_SECONDS = 300  # after which changes of second factors ask for a password or code again
MARK_LENGTH = 16  # of an unknown name; a username has no colon
_SALT = "copilot_admin.admin.frame.sign_ins"  # stored marks were made with it
logger = logging.getLogger(__name__)


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth has no types
    """Password sign-in by username, without sign-up."""

    error_messages = DefaultAccountAdapter.error_messages | {
        "too_many_login_attempts": gettext_lazy(
            "Too many failed sign-ins. Wait 15 minutes, then try again."
        ),
        "username_password_mismatch": gettext_lazy("The username or password is not correct."),
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def get_client_ip(self, request: HttpRequest) -> str:
        # uvicorn has read X-Forwarded-For of trusted proxies.
        return get_client_network(request.META.get("REMOTE_ADDR") or "") or NO_ADDRESS

    def is_safe_url(self, url: str) -> bool:
        request = context.request
        hosts = {request.get_host()}
        return url_has_allowed_host_and_scheme(url, hosts, require_https=request.is_secure())

    def get_login_stages(self) -> list[str]:
        is_by_sso = context.request.path == reverse("sso_callback")
        is_done = is_by_sso and settings.SSO.has_second_factor
        return [] if is_done else ["allauth.mfa.stages.AuthenticateStage"]

    def authenticate(self, request: HttpRequest, **credentials: Any) -> User | None:
        user: User | None = super().authenticate(request, **credentials)
        if user is None:
            return None
        if not may_use_password(user):
            if user.is_active:  # otherwise Django has sent it
                named = {"username": user.get_username()}
                user_login_failed.send(__name__, credentials=named, request=request)
            return None
        key = self._attempt_key(request, credentials)
        ratelimit.clear(request, app="allauth.account", action="login_failed", key=key)
        return user

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Count an attempt, and refuse it after too many failures.

        The emergency page counts for itself, so that failures elsewhere can't close it.
        """
        key = self._attempt_key(request, credentials)
        limits = [
            ("login_failed", key),
            ("login_failed_account", credentials["username"].casefold()),
            ("login_failed_address", None),
        ]
        if settings.SSO.is_emergency_only:
            limits = [("login_failed_emergency", key)]
        usages = []
        for action, limit_key in limits:
            usage = ratelimit.consume(request, app="allauth.account", action=action, key=limit_key)
            if usage is None:
                record_failure(credentials, request, is_refused=True)
                raise self.validation_error("too_many_login_attempts")
            usages += usage.usage
        self._login_failed_rl_usage = ratelimit.RateLimitUsage(usages)

    def post_login(self, request: HttpRequest, user: User, **options: Any) -> HttpResponse:
        """Note the source of a session that began with single sign-on."""
        social = (options.get("signal_kwargs") or {}).get("sociallogin")
        if social is not None:
            token = social.account.extra_data.get("id_token", "")
            request.session[SSO] = {"source": OIDC, "id_token": token}
        response: HttpResponse = super().post_login(request, user, **options)
        return response

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        return reverse("admin:index")

    def respond_user_inactive(self, request: HttpRequest, user: User) -> HttpResponse:
        return redirect("account_login")

    def is_reauthentication_required(self, *, app: str, **_options: Any) -> bool:
        """Ask again before changes of second factors, unless the user has just signed in."""
        request = context.request
        if get_sso_source(request.session) == PROXY:
            return False  # the proxy vouches for each request
        records = get_authentication_records(request, request.user)
        return not any(time.time() - one["at"] < FRESH_SECONDS for one in records)

    def get_reauthentication_methods(self, user: User) -> list[dict[str, Any]]:
        """Return allauth's methods; a user who has none of them signs in again."""
        methods: list[dict[str, Any]] = super().get_reauthentication_methods(user)
        if not methods and get_sso_source(context.request.session) == OIDC:
            methods = [{"id": "sso", "url": reverse("sso_start")}]
        return methods

    def _attempt_key(self, request: HttpRequest, credentials: dict[str, Any]) -> str:
        return f"{credentials['username'].casefold()} {ratelimit.get_ip(request)}"


class SsoAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """The one identity provider of the settings; its users are found by issuer and subject."""

    def list_apps(self, request: HttpRequest, **_options: Any) -> list[SocialApp]:
        oidc: OidcProvider = settings.SSO.oidc
        if not oidc.is_configured:
            return []
        app = SocialApp(
            provider="openid_connect",
            provider_id=PROVIDER_ID,
            name=oidc.label,
            client_id=oidc.client_id,
            secret=oidc.client_secret.get_secret_value(),
        )
        app.settings = {
            "server_url": oidc.issuer,
            "scope": oidc.scopes.split(),
            "oauth_pkce_enabled": True,
        }
        return [app]

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        return False

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Find or create the user with the roles of their groups."""
        try:
            identity = build_identity(sociallogin)
            sociallogin.user = get_or_create_account(identity, settings.SSO.oidc)
        except RequestError as error:
            raise ImmediateHttpResponse(refuse(request, error)) from error

    def on_authentication_error(
        self, request: HttpRequest, *_args: Any, exception: Any = None, **_kwargs: Any
    ) -> None:
        text = _("Sign-in was not completed. Try again, or ask an administrator.")
        response = refuse(request, Unauthorized(text), cause=exception)
        raise ImmediateHttpResponse(response) from exception


class SecondFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """Second factors with encrypted secrets."""

    def encrypt(self, text: str) -> str:
        return encrypt(text, location=SECRETS)

    def decrypt(self, encrypted_text: str) -> str:
        return decrypt(encrypted_text, location=SECRETS)

    def get_totp_label(self, user: User) -> str:
        return user.get_username()

    def build_totp_svg(self, url: str) -> str:
        """Return the QR code on a white ground, for dark pages."""
        picture = io.BytesIO()
        qrcode.make(url, image_factory=SvgPathFillImage).save(picture)
        return picture.getvalue().decode()

    def can_delete_authenticator(self, authenticator: Authenticator) -> bool:
        others = Authenticator.objects.filter(user=authenticator.user).exclude(pk=authenticator.pk)
        has_other = others.exclude(type=Authenticator.Type.RECOVERY_CODES).exists()
        return has_other or not is_second_factor_required(authenticator.user)

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        host = urlsplit(settings.PUBLIC_URL).hostname
        return {
            "id": host or context.request.get_host().partition(":")[0],
            "name": settings.MFA_TOTP_ISSUER,
        }


def _find_subject(typed: str) -> Subject:
    """Return the account of a name, or a hash of any other text: people type passwords there."""
    account = User.objects.filter(username__iexact=typed).first()
    if account is not None:
        return Subject.of(account)
    mark = salted_hmac(_SALT, typed, algorithm="sha256").hexdigest()
    return Subject("user", "", f"unknown:{mark[:MARK_LENGTH]}")


def record_failure(
    credentials: dict[str, Any],
    request: HttpRequest | None = None,
    *,
    is_refused: bool = False,
    **_: object,
) -> None:
    """Record a wrong password, or an attempt that wasn't checked after too many failures."""
    if request is None:
        return
    subject = _find_subject(credentials["username"])
    text = "refused after too many failures" if is_refused else "failed"
    address = request.META.get("REMOTE_ADDR")
    logger.warning("Sign-in %s: account %s from %s.", text, subject.name, address)
    write = record_read if is_refused else record
    after = {"locked_out": is_refused}
    write(Action.LOGIN_FAILED, by=Actor.of(request), on=subject, after=after)


def _record(action: Action, **facts: str) -> Any:
    def receive(request: HttpRequest | None, user: User | None, **_: object) -> None:
        if request is not None and user is not None:
            record(action, by=Actor.of(request, user), on=Subject.of(user), after=facts or None)

    return receive


for signal, receiver in (
    (user_logged_in, _record(Action.LOGGED_IN)),
    (user_logged_out, _record(Action.LOGGED_OUT)),
    (user_login_failed, record_failure),
    (password_changed, _record(Action.PASSWORD_CHANGED)),
    (password_reset, _record(Action.PASSWORD_CHANGED, by="mail")),
):
    signal.connect(receiver, weak=False, dispatch_uid=__name__)
