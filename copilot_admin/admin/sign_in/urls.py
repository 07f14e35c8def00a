"""URLs of sign-in under /admin/. Only these pages of allauth exist: nobody signs up."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from allauth.account import views as account
from allauth.mfa.base import views as mfa
from allauth.mfa.recovery_codes import views as codes
from allauth.mfa.totp import views as totp
from allauth.mfa.webauthn import views as webauthn
from django.conf import settings
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.urls import URLPattern, URLResolver, include, path
from django.utils.translation import gettext_lazy as _
from django.views.generic import RedirectView, View

from copilot_admin.admin.common.widgets import Text
from copilot_admin.admin.sign_in import oidc, views
from copilot_admin.admin.site.site import site

_Respond = Callable[..., HttpResponseBase]


def _page(view: type[View], title: Text, *, template: str = "", **words: Any) -> _Respond:
    """Return a view of allauth with what pages of the site need around it."""
    options = {"template_name": f"{template}.html"} if template else {}

    def respond(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        context = {**site.each_context(request), "title": title, **words}
        return view.as_view(extra_context=context, **options)(request, *args, **kwargs)

    return respond


def _own_page(view: type[View], title: Text, **options: Any) -> _Respond:
    """Return the same for signed-in users only."""
    return site.admin_view(_page(view, title, **options))


def _with_mail(respond: _Respond) -> _Respond:
    @wraps(respond)
    def check(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not settings.EMAIL_HOST:
            raise Http404
        return respond(request, *args, **kwargs)

    return check


_FORM = "account/form"
_ENTRANCE = "account/entrance"
_CONFIRM = {
    "title": _("Confirm your identity"),
    "lead": _("You are about to change how you sign in."),
    "submit": _("Confirm"),
}
_CODE = {**_CONFIRM, "lead": _("Enter a code of your authenticator app or a recovery code.")}
_PASSWORD_PAGES: list[URLPattern] = [
    path(
        "password_change/",
        _own_page(
            account.PasswordChangeView,
            _("Change password"),
            template=_FORM,
            submit=_("Change password"),
            cancel="admin:index",
        ),
        name="account_change_password",
    ),
    path(
        "password_set/",
        RedirectView.as_view(pattern_name="admin:index"),
        name="account_set_password",
    ),
    path(
        "password-reset/",
        _with_mail(
            _page(
                account.PasswordResetView,
                _("Reset password"),
                template=_ENTRANCE,
                lead=_("Enter the email address of your account to get a link."),
                submit=_("Send link"),
            )
        ),
        name="account_reset_password",
    ),
    path(
        "password-reset/sent/",
        _page(
            account.PasswordResetDoneView,
            _("Check your email"),
            template=_ENTRANCE,
            lead=_(
                "If an account has this address, a link is on its way. Check the spam folder, too."
            ),
        ),
        name="account_reset_password_done",
    ),
    path(
        "password-reset/done/",
        _page(
            account.PasswordResetFromKeyDoneView,
            _("Password set"),
            template=_ENTRANCE,
            lead=_("You can sign in with your new password."),
        ),
        name="account_reset_password_from_key_done",
    ),
    path(
        "password-reset/<slug:uidb36>/<str:key>/",
        _page(
            account.PasswordResetFromKeyView,
            _("Set password"),
            template=_ENTRANCE,
            submit=_("Set password"),
        ),
        name="account_reset_password_from_key",
    ),
]
_SECOND_FACTOR_PAGES: list[URLPattern] = [
    path("", _own_page(views.TwoFactorView, _("Two-factor authentication")), name="mfa_index"),
    path(
        "sign-in/",
        _page(mfa.AuthenticateView, _("Two-factor authentication")),
        name="mfa_authenticate",
    ),
    path(
        "confirm/",
        _own_page(mfa.ReauthenticateView, template=_FORM, **_CODE),
        name="mfa_reauthenticate",
    ),
    path(
        "app/add/",
        _own_page(totp.ActivateTOTPView, _("Set up authenticator app")),
        name="mfa_activate_totp",
    ),
    path(
        "app/remove/",
        _own_page(
            totp.DeactivateTOTPView,
            _("Remove authenticator app"),
            template=_FORM,
            lead=_("Its codes will no longer be asked for when you sign in."),
            submit=_("Remove"),
            submit_class="ca-btn--danger",
            cancel="mfa_index",
        ),
        name="mfa_deactivate_totp",
    ),
    path("keys/", RedirectView.as_view(pattern_name="mfa_index"), name="mfa_list_webauthn"),
    path(
        "keys/add/", _own_page(webauthn.AddWebAuthnView, _("Add passkey")), name="mfa_add_webauthn"
    ),
    path(
        "keys/confirm/",
        _own_page(
            webauthn.ReauthenticateWebAuthnView,
            _CONFIRM["title"],
            template="mfa/webauthn/add_form",
        ),
        name="mfa_reauthenticate_webauthn",
    ),
    path(
        "keys/<id:pk>/remove/",
        _own_page(
            webauthn.RemoveWebAuthnView,
            _("Remove passkey"),
            template=_FORM,
            lead=_("It will no longer work for signing in here."),
            submit=_("Remove"),
            submit_class="ca-btn--danger",
            cancel="mfa_index",
        ),
        name="mfa_remove_webauthn",
    ),
    path(
        "codes/",
        _own_page(codes.ViewRecoveryCodesView, _("Recovery codes")),
        name="mfa_view_recovery_codes",
    ),
    path(
        "codes/new/",
        _own_page(
            codes.GenerateRecoveryCodesView,
            _("Replace recovery codes"),
            template=_FORM,
            lead=_("The old codes stop working."),
            submit=_("Replace codes"),
            cancel="mfa_index",
        ),
        name="mfa_generate_recovery_codes",
    ),
]
urlpatterns: list[URLPattern | URLResolver] = [
    path("login/", views.SignInView.as_view(), name="account_login"),
    path("emergency/", views.EmergencyView.as_view(), name="account_emergency"),
    path("logout/", views.sign_out, name="account_logout"),
    path("sso/start/", oidc.start, name="sso_start"),
    path("sso/callback/", oidc.callback, name="sso_callback"),
    path("sessions/", site.admin_view(views.list_sessions), name="usersessions_list"),
    path(
        "confirm/",
        _own_page(account.ReauthenticateView, template=_FORM, **_CONFIRM),
        name="account_reauthenticate",
    ),
    path("two-factor/", include(_SECOND_FACTOR_PAGES)),
    *_PASSWORD_PAGES,
]
