"""URLs of sign-in under /admin/. Only these pages of allauth exist: nobody signs up."""

from collections.abc import Callable
from typing import Any

from allauth.account import views as account
from allauth.mfa.base import views as mfa
from allauth.mfa.recovery_codes import views as codes
from allauth.mfa.totp import views as totp
from allauth.mfa.webauthn import views as webauthn
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import URLPattern, path
from django.utils.translation import gettext_lazy as _
from django.views.generic import RedirectView, View

from copilot_admin.admin.common.widgets import Text
from copilot_admin.admin.sign_in import oidc, views
from copilot_admin.admin.site.site import site

_Respond = Callable[..., HttpResponseBase]


def _open(view: type[View], title: Text, template: str = "", **words: Any) -> _Respond:
    """Return a view of allauth with the frame of the site, for strangers too."""
    options = {"template_name": f"{template}.html"} if template else {}

    def respond(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        context = {**site.each_context(request), "title": title, **words}
        return view.as_view(extra_context=context, **options)(request, *args, **kwargs)

    return respond


def _page(view: type[View], title: Text, template: str = "", **words: Any) -> _Respond:
    """Return the same for signed-in users only."""
    return site.admin_view(_open(view, title, template, **words))


def _form(view: type[View], title: Text, lead: Text, submit: Text, **words: Any) -> _Respond:
    return _page(view, title, "account/form", lead=lead, submit=submit, **words)


def _removal(view: type[View], title: Text, lead: Text) -> _Respond:
    words = {"submit_class": "ca-btn--danger", "cancel": "mfa_index"}
    return _form(view, title, lead, _("Remove"), **words)


def _entrance(view: type[View], title: Text, lead: Text = "", submit: Text = "") -> _Respond:
    return _open(view, title, "account/entrance", lead=lead, submit=submit)


_CONFIRM = _("Confirm your identity")
_CODE_LEAD = _("Enter a code of your authenticator app or a recovery code.")
_RESET_LEAD = _("Enter the email address of your account to get a link.")
_SENT_LEAD = _("If an account has this address, a link is on its way. Check the spam folder, too.")
_SECOND = _("Two-factor authentication")
_CHANGE = _("Change password")
_SET = _("Set password")

_reset = _entrance(views.PasswordResetView, _("Reset password"), _RESET_LEAD, _("Send link"))
_sent = _entrance(account.PasswordResetDoneView, _("Check your email"), _SENT_LEAD)
_set = _entrance(account.PasswordResetFromKeyView, _SET, submit=_SET)
_done = _entrance(
    account.PasswordResetFromKeyDoneView,
    _("Password set"),
    _("You can sign in with your new password."),
)
_change = _form(account.PasswordChangeView, _CHANGE, "", _CHANGE, cancel="admin:index")
_confirm = _form(
    account.ReauthenticateView,
    _CONFIRM,
    _("You are about to change how you sign in."),
    _("Confirm"),
)
_confirm_code = _form(mfa.ReauthenticateView, _CONFIRM, _CODE_LEAD, _("Confirm"))
_confirm_key = _page(webauthn.ReauthenticateWebAuthnView, _CONFIRM, "mfa/webauthn/add_form")
_remove_app = _removal(
    totp.DeactivateTOTPView,
    _("Remove authenticator app"),
    _("Sign-in will no longer require its codes."),
)
_remove_key = _removal(
    webauthn.RemoveWebAuthnView,
    _("Remove passkey"),
    _("It will no longer work for signing in here."),
)
_new_codes = _form(
    codes.GenerateRecoveryCodesView,
    _("Replace recovery codes"),
    _("The old codes stop working."),
    _("Replace codes"),
    cancel="mfa_index",
)
_add_app = _page(totp.ActivateTOTPView, _("Set up authenticator app"))
_add_key = _page(webauthn.AddWebAuthnView, _("Add passkey"))
_codes = _page(codes.ViewRecoveryCodesView, _("Recovery codes"))
_keys = RedirectView.as_view(pattern_name="mfa_index")
_EMERGENCY = views.SignInView.as_view(is_emergency=True)
_home = RedirectView.as_view(pattern_name="admin:index")

urlpatterns: list[URLPattern] = [
    path("login/", views.SignInView.as_view(), name="account_login"),
    path("emergency/", _EMERGENCY, name="account_emergency"),
    path("logout/", views.sign_out, name="account_logout"),
    path("sso/start/", oidc.start, name="sso_start"),
    path("sso/callback/", oidc.callback, name="sso_callback"),
    path("sessions/", site.admin_view(views.list_sessions), name="usersessions_list"),
    path("confirm/", _confirm, name="account_reauthenticate"),
    path("password_change/", _change, name="account_change_password"),
    path("password_set/", _home, name="account_set_password"),
    path("password-reset/", _reset, name="account_reset_password"),
    path("password-reset/sent/", _sent, name="account_reset_password_done"),
    path("password-reset/done/", _done, name="account_reset_password_from_key_done"),
    path("password-reset/<slug:uidb36>/<str:key>/", _set, name="account_reset_password_from_key"),
    path("two-factor/", _page(views.TwoFactorView, _SECOND), name="mfa_index"),
    path("two-factor/sign-in/", _open(mfa.AuthenticateView, _SECOND), name="mfa_authenticate"),
    path("two-factor/confirm/", _confirm_code, name="mfa_reauthenticate"),
    path("two-factor/app/add/", _add_app, name="mfa_activate_totp"),
    path("two-factor/app/remove/", _remove_app, name="mfa_deactivate_totp"),
    path("two-factor/keys/", _keys, name="mfa_list_webauthn"),
    path("two-factor/keys/add/", _add_key, name="mfa_add_webauthn"),
    path("two-factor/keys/confirm/", _confirm_key, name="mfa_reauthenticate_webauthn"),
    path("two-factor/keys/<id:pk>/remove/", _remove_key, name="mfa_remove_webauthn"),
    path("two-factor/codes/", _codes, name="mfa_view_recovery_codes"),
    path("two-factor/codes/new/", _new_codes, name="mfa_generate_recovery_codes"),
]
