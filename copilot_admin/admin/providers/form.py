"""Form of a provider; its key goes in and never comes out."""

from contextlib import suppress
from dataclasses import asdict
import re
from typing import Any, ClassVar
from urllib.parse import parse_qsl, urlsplit

from django import forms
from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.forms import ModelForm
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from copilot_admin.admin.providers.option_fields import (
    MASK,
    OptionFields,
    changed_options,
    initial_options,
)
from copilot_admin.agent.fetching.addresses import check_base_url, correct_base_url
from copilot_admin.agent.providers.clouds import AzureOpenAI, get_endpoint
from copilot_admin.agent.providers.registry import provider_kinds
from copilot_admin.agent.values.spec import Timeouts
from copilot_admin.config.variables import check_http_url
from copilot_admin.copilots.other_providers import (
    find_live_copilots,
    is_approved,
    is_rerouted,
    request_approval,
)
from copilot_admin.copilots.providers import (
    ENVIRONMENT_NAME,
    get_destination,
    key_variables,
    may_hold_key,
    read_headers,
)
from copilot_admin.errors import ConfigurationError, NotReady
from copilot_admin.models import Provider

MAX_TIMEOUT_SECONDS = 3600


def _timeout(label: Any, help_text: Any) -> forms.FloatField:
    return forms.FloatField(
        label=label, help_text=help_text, required=False, min_value=0.1, max_value=MAX_TIMEOUT_SECONDS,
        widget=forms.NumberInput(attrs={"step": "any"}),
    )  # fmt: skip


class ProviderForm(ModelForm[Provider], OptionFields):
    """All settings of a provider."""

    kind = forms.ChoiceField(label=_("Kind"))
    api_key = forms.CharField(
        label=_("API key"),
        required=False,
        max_length=10_000,  # a key file of Google Cloud has 2,400
        strip=True,
        widget=forms.PasswordInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    clear_key = forms.BooleanField(label=_("Delete the stored key"), required=False)
    confirm_reroute = forms.BooleanField(
        label=_("Send the requests of live copilots to the new URL"), required=False
    )
    connect = _timeout(_("Connect timeout (s)"), _("Time to open a connection."))
    first_token = _timeout(_("First-token timeout (s)"), _("Time until the first words."))
    between_tokens = _timeout(_("Idle timeout (s)"), _("Longest pause within an answer."))
    total = _timeout(
        _("Total timeout (s)"), _("Time for one model call. A question with tools takes several.")
    )

    editor: AbstractBaseUser  # set by the admin

    class Meta:
        model = Provider
        fields: ClassVar[list[str]] = ["name", "kind", "base_url", "api_key_env", "tool_calling"]
        widgets: ClassVar[dict[str, forms.Widget]] = {
            "base_url": forms.TextInput(attrs={"inputmode": "url"})
        }
        labels: ClassVar[dict[str, str | Promise]] = {
            "base_url": _("Base URL"),
            "api_key_env": _("Environment variable"),
        }
        help_texts: ClassVar[dict[str, str | Promise]] = {
            "name": _("Display name"),
            "base_url": _("Including the version, for example https://api.openai.com/v1"),
            "tool_calling": _(
                "Choose prompt-based only for models without native tool calls. It is less reliable."
            ),
            "api_key_env": _(
                "Name of a server variable with the key, for example COPILOT_KEY_LOCAL. Used if no "
                "key is stored."
            ),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.key_was_cleared = self.headers_were_cleared = False
        self.rerouted: list[str] = []
        self.live_copilots = find_live_copilots(self.instance) if self.instance.pk else []
        if not self.live_copilots:
            self.fields.pop("confirm_reroute", None)
        self.url_note = ""
        self._stored_headers: dict[str, str] = {}
        with suppress(ConfigurationError):  # they can't be decrypted any more
            self._stored_headers = read_headers(self.instance)
        self.initial = {
            **asdict(Timeouts()),
            **self.instance.timeouts,
            **initial_options(self.instance.options),
            "headers": "\n".join(f"{name}: {MASK}" for name in self._stored_headers),
            **self.initial,
        }
        self.fields["kind"].choices = provider_kinds()  # type: ignore[attr-defined]  # a ChoiceField
        if "api_key_env" in self.fields:
            self.fields["api_key_env"].validators.append(ENVIRONMENT_NAME)
        self._describe_key()

    def clean_base_url(self) -> str:
        """Accept the URL of a server, without a user name and password."""
        url: str = self.cleaned_data["base_url"].strip().rstrip("/")
        if not url:
            return url
        try:
            check_http_url(url)
        except ValueError as error:
            text = _("Enter the full URL, starting with https:// or http://")
            raise forms.ValidationError(text) from error
        if urlsplit(url).username is not None:
            text = _("Remove user name and password from the URL. Use the API key field.")
            raise forms.ValidationError(text)
        corrected = correct_base_url(url)
        if corrected != url:
            self.url_note = gettext("The base URL was shortened to %(url)s.") % {"url": corrected}
        try:
            return check_base_url(corrected)
        except NotReady as error:
            raise forms.ValidationError(error.public) from error

    def clean_api_key_env(self) -> str:
        """Reject variables that aren't for keys: their value would be sent to the provider."""
        name: str = self.cleaned_data["api_key_env"].strip()
        if name and not may_hold_key(name):
            text = _("This variable can't hold a key. Use one of: %(names)s.")
            raise forms.ValidationError(text, params={"names": key_variables(name)})
        return name

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or self.cleaned_data
        if values.get("kind") == AzureOpenAI.kind and values.get("base_url"):
            self._split_azure_url(values)
        if "base_url" in values:
            self._forget_if_moved(values)
            self._check_rerouting(values)
        if values.get("clear_key") and values.get("api_key"):
            self.add_error("clear_key", _("Enter a new key or delete the stored one, not both."))
        return values

    def _check_rerouting(self, values: dict[str, Any]) -> None:
        """Demand a confirmation that names the live copilots, and an approval if so set."""
        if not self.instance.pk or "confirm_reroute" not in self.fields:
            return
        stored = Provider.objects.get(pk=self.instance.pk)
        if not is_rerouted(stored, values["base_url"], changed_options(values)):
            return
        self.rerouted = [copilot.name for copilot in self.live_copilots]
        if not values.get("confirm_reroute"):
            names = ", ".join(self.rerouted)
            text = _("These live copilots use the new URL immediately: %(names)s. Confirm below.")
            self.add_error("base_url", forms.ValidationError(text, params={"names": names}))
            self.add_error("confirm_reroute", _("Confirm the change."))
            return
        request = (stored, values["base_url"], self.editor)
        if settings.PROVIDER_APPROVAL and not is_approved(*request):
            request_approval(*request)
            text = _("Another operator must approve the new URL. Then save again.")
            self.add_error("base_url", forms.ValidationError(text, code="approval"))

    def save(self, commit: bool = True) -> Provider:
        self.instance.timeouts = self.timeouts
        self.instance.options = changed_options(self.cleaned_data)
        return super().save(commit=commit)

    @property
    def new_headers(self) -> dict[str, str]:
        """Return the request headers with their values, typed or stored."""
        sent: dict[str, str] = self.cleaned_data.get("headers") or {}
        return {
            name: self._stored_headers[name] if value == MASK else value
            for name, value in sent.items()
            if value != MASK or name in self._stored_headers
        }

    def _split_azure_url(self, values: dict[str, Any]) -> None:
        """Take the deployment and the version of the API out of a pasted URL."""
        parts = urlsplit(values["base_url"])
        found = re.search(r"/openai/deployments/([^/]+)", parts.path)
        if found and not values.get("deployment"):
            values["deployment"] = found[1]
        version = dict(parse_qsl(parts.query)).get("api-version")
        if version and not values.get("api_version"):
            values["api_version"] = version
        values["base_url"] = get_endpoint(values["base_url"])

    def _forget_if_moved(self, values: dict[str, Any]) -> None:
        before = get_destination(str(self.initial.get("base_url", "")), self.instance.options)
        if before == get_destination(values["base_url"], changed_options(values)):
            return
        self.key_was_cleared = bool(self.instance.api_key_cipher) and not values.get("api_key")
        self.headers_were_cleared = bool(self._stored_headers)
        self._stored_headers = {}

    @property
    def timeouts(self) -> dict[str, float]:
        """Return the timeouts that differ from the defaults, in seconds."""
        given = {
            name: (self.cleaned_data.get(name), usual) for name, usual in asdict(Timeouts()).items()
        }
        return {name: one for name, (one, usual) in given.items() if one not in (None, usual)}

    @property
    def new_key(self) -> str | None:
        """Return the key to store; empty deletes the stored one, None keeps it."""
        if self.cleaned_data.get("api_key"):
            return str(self.cleaned_data["api_key"])
        return "" if self.cleaned_data.get("clear_key") or self.key_was_cleared else None

    def _describe_key(self) -> None:
        hint = self.instance.api_key_hint
        if self.instance.api_key_cipher:
            self.fields["api_key"].widget.attrs["placeholder"] = f"••••{hint}"
            self.fields["api_key"].help_text = _(
                "A key is stored. Leave blank to keep it. It is only sent to the base URL; changing "
                "the server deletes it."
            )
        else:
            del self.fields["clear_key"]
            self.fields["api_key"].help_text = _(
                "Stored encrypted and never shown again. It is only sent to the base URL."
            )
