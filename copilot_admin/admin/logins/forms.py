"""The forms in which people type passwords."""

from typing import Any

from django import forms
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth.models import User
from django.utils.translation import gettext as _

from copilot_admin.accounts.external_accounts import is_external
from copilot_admin.admin.logins.sign_in_limits import attempt_words
from copilot_admin.errors import Unavailable


class LoginForm(AdminAuthenticationForm):
    """The stock form; attempts that come at once are counted one after the other."""

    def clean(self) -> dict[str, Any]:
        """Checks name and password, unless too many were wrong.

        Raises:
            Unavailable: Too many others wait; it says for the log whose log-in it is.
        """
        try:
            return super().clean()
        except Unavailable as error:
            if self.request is not None:
                error.add_note(attempt_words(self.request))
            raise

    def confirm_login_allowed(self, user: User) -> None:
        """Who has an account of the firm logs in there: its roles are what the firm says."""
        super().confirm_login_allowed(user)
        if is_external(user):
            raise forms.ValidationError(
                _("This account logs in with your firm's log-in, not with a password.")
            )


class EmergencyForm(LoginForm):
    """For superusers of this server alone."""

    def confirm_login_allowed(self, user: User) -> None:
        """Nobody else is let in by a password."""
        super().confirm_login_allowed(user)
        if not user.is_superuser:
            raise forms.ValidationError(_("Only superusers log in here. Use your firm's log-in."))
