"""Forms of sign-in and passwords."""

from typing import Any

from allauth.account.adapter import get_adapter
from allauth.account.forms import ChangePasswordForm as BaseChangePasswordForm
from allauth.account.forms import LoginForm, ResetPasswordKeyForm
from allauth.account.forms import ResetPasswordForm as BaseResetPasswordForm
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from copilot_admin.admin.sign_in.password_reset import send_reset
from copilot_admin.http.origins import get_base_url


class PlainFields:
    """Form without placeholders, which repeat the labels, and with a short help for passwords."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        fields = self.fields  # type: ignore[attr-defined]  # of the form
        for field in fields.values():
            field.widget.attrs.pop("placeholder", None)
            field.help_text = ""
        if "password1" in fields:
            fields["password1"].help_text = _(
                "At least 12 characters, not common, not a repetition and not like your name."
            )


class SignInForm(PlainFields, LoginForm):  # type: ignore[misc]  # allauth has no types
    """Username and password."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["login"].widget.attrs["autofocus"] = True


class ChangePasswordForm(PlainFields, BaseChangePasswordForm):  # type: ignore[misc]
    """Current and new password; wrong guesses count as failed sign-ins."""

    def clean_oldpassword(self) -> str:
        password: str = self.cleaned_data["oldpassword"]
        if not get_adapter().reauthenticate(self.user, password):
            raise get_adapter().validation_error("enter_current_password")
        return password


class SetPasswordForm(PlainFields, ResetPasswordKeyForm):  # type: ignore[misc]
    """The new password of an invitation or a reset."""


class ResetPasswordForm(BaseResetPasswordForm):  # type: ignore[misc]
    """The e-mail address of an account."""

    def save(self, request: HttpRequest, **_options: Any) -> str:
        """Send the mail in the background, so that the page takes as long without an account."""
        email: str = self.cleaned_data["email"]
        send_reset.enqueue(email, get_base_url(request))
        return email
