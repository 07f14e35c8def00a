"""Pages of sign-in that allauth doesn't have, or has otherwise."""

from http import HTTPStatus
from pathlib import Path
from typing import Any, cast

from allauth.account import views as account
from allauth.mfa.base.views import IndexView
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib import auth, messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from copilot_admin.accounts.second_factor import Step, missing_step
from copilot_admin.accounts.sessions import OIDC, SSO, describe_device, end_sessions, get_sso_source
from copilot_admin.admin.sign_in.oidc import build_sign_out_url
from copilot_admin.admin.site.site import site
from copilot_admin.audit.recording import Actor, Subject, record
from copilot_admin.models import Action
from copilot_admin.server.first_start import LOGIN_FILE

LOCKED_SECONDS = 900


class SignInView(account.LoginView):  # type: ignore[misc]  # allauth has no types
    """Password sign-in, and the button of single sign-on.

    The emergency page is for administrators while single sign-on is down.
    """

    template_name = "account/login.html"
    is_emergency = False

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if self.is_emergency and not settings.SSO.is_emergency_only:
            raise Http404
        if request.method == "POST" and not self.has_passwords:
            context = self.get_context_data(form=None)
            return render(request, self.template_name, context, status=HTTPStatus.FORBIDDEN)
        response: HttpResponse = super().dispatch(request, *args, **kwargs)
        return response

    @property
    def has_passwords(self) -> bool:
        return self.is_emergency or not settings.SSO.is_emergency_only

    def form_invalid(self, form: Any) -> HttpResponse:
        response: HttpResponse = super().form_invalid(form)
        if form.has_error("__all__", "too_many_login_attempts"):
            response.status_code = HTTPStatus.TOO_MANY_REQUESTS
            response["Retry-After"] = str(LOCKED_SECONDS)
        return response

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        oidc = settings.SSO.oidc
        has_button = oidc.is_configured and not self.is_emergency
        first_password = Path(settings.DATA_DIR, LOGIN_FILE)
        is_first = not User.objects.exclude(last_login=None).exists()
        return {
            **super().get_context_data(**kwargs),
            "title": _("Sign in"),
            "has_passwords": self.has_passwords,
            "has_proxy": settings.SSO.proxy.is_configured,
            "sso_label": has_button and (oidc.label or _("single sign-on")),
            "sends_mail": bool(settings.EMAIL_HOST),
            "first_password_file": first_password.exists() and is_first and first_password,
            "is_emergency": self.is_emergency,
        }


class PasswordResetView(account.PasswordResetView):  # type: ignore[misc]
    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not settings.EMAIL_HOST:
            raise Http404
        response: HttpResponse = super().dispatch(request, *args, **kwargs)
        return response


@require_POST
@never_cache
def sign_out(request: HttpRequest) -> HttpResponse:
    """End the session here, and lead to the provider if it has one, too.

    The page leads there by a link: under the Content-Security-Policy a form can't.
    """
    sso = request.session.get(SSO) or {}
    is_oidc = get_sso_source(request.session) == OIDC
    url = build_sign_out_url(request, sso.get("id_token", "")) if is_oidc else ""
    auth.logout(request)
    return render(request, "signed_out.html", {"title": _("Signed out"), "onward": url})


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def list_sessions(request: HttpRequest) -> HttpResponse:
    user = cast(User, request.user)  # `admin_view` lets nobody else in
    return show_sessions(request, user, title=_("Sessions"))


def show_sessions(request: HttpRequest, user: User, **context: Any) -> HttpResponse:
    """Show the sessions of a user, the current one first; a POST ends one or all others."""
    if request.method == "POST":
        return _end_chosen_sessions(request, user)
    rows = [
        {
            "session": one,
            "device": describe_device(one.user_agent) or _("Unknown device"),
            "is_current": one.session_key == request.session.session_key,
        }
        for one in UserSession.objects.purge_and_list(user)
    ]
    rows.sort(key=lambda row: (row["is_current"], row["session"].last_seen_at), reverse=True)
    is_own = user.pk == request.user.pk
    context = {**site.each_context(request), "rows": rows, "is_own": is_own, **context}
    return render(request, "usersessions/usersession_list.html", context)


def _end_chosen_sessions(request: HttpRequest, user: User) -> HttpResponse:
    chosen = request.POST.get("end", "")
    own_key = request.session.session_key
    count = (
        end_sessions(user, except_key=own_key)
        if chosen == "others"
        else end_sessions(user, pk=chosen or "-")
    )
    if count:
        by, on = Actor.of(request), Subject.of(user)
        record(Action.LOGGED_OUT, by=by, on=on, after={"sessions_ended": count})
    text = ngettext("Signed out of one session.", "Signed out of %(n)d sessions.", count)
    messages.success(request, text % {"n": count} if count else _("No session was left to end."))
    return HttpResponseRedirect(request.path)


class TwoFactorView(IndexView):  # type: ignore[misc]
    """The second factors of the user who asks."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        user = cast(User, self.request.user)
        is_missing = missing_step(self.request, user) is Step.SET_UP
        return {**super().get_context_data(**kwargs), "is_missing": is_missing}
