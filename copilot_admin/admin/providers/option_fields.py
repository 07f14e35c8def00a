"""Form fields of the options of a provider."""

from collections.abc import Mapping
from pathlib import Path
import re
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from copilot_admin.agent.values.spec import ProviderOptions
from copilot_admin.copilots.providers import OPTIONS, is_proxy_url
from protocol.json import Json

MASK = "••••••"  # stands for the value of a stored header
MAX_HEADERS_CHARACTERS = 16_000
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")  # RFC 9110
# Of the transport, or decided by the request.
_RESERVED_HEADERS = frozenset({"host", "content-length", "content-type", "transfer-encoding"})


def _text(label: Any, help_text: Any = "", max_length: int = 100) -> forms.CharField:
    return forms.CharField(label=label, required=False, max_length=max_length, help_text=help_text)


def _switch(label: Any, help_text: Any) -> forms.BooleanField:
    return forms.BooleanField(label=label, required=False, help_text=help_text)


class _ServerFile(forms.CharField):
    def __init__(self, label: Any, help_text: Any) -> None:
        super().__init__(label=label, required=False, max_length=300, help_text=help_text)

    def clean(self, value: Any) -> str:
        path = str(super().clean(value))
        if path and not Path(path).is_file():
            raise forms.ValidationError(_("This file doesn't exist on the server."))
        return path


class OptionFields(forms.Form):
    """Fields with the names of `ProviderOptions`."""

    api_version = _text(
        _("API version"), _("Azure: 2024-10-21. Leave empty for the v1 API."), max_length=40
    )
    deployment = _text(
        _("Deployment"), _("Azure with an API version. Leave empty if it is named like the model.")
    )
    uses_entra_id = _switch(
        _("Sign in with Entra ID"),
        _(
            "Azure. With tenant and client, the API key is the client secret. Without them, the "
            "identity of this server is used."
        ),
    )
    tenant_id = _text(_("Tenant ID"))
    client_id = _text(_("Client ID"))
    organization = _text(_("Organization"))
    project = _text(_("Project"), _("Of OpenAI, or of Google Cloud."))
    region = forms.RegexField(
        r"^[a-z0-9-]+\Z",
        label=_("Region"),
        required=False,
        max_length=50,
        help_text=_("Bedrock: us-east-1. Vertex: europe-west4 or global."),
    )
    headers = forms.CharField(
        label=_("Request headers"),
        required=False,
        max_length=MAX_HEADERS_CHARACTERS,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false", "autocomplete": "off"}),
        help_text=_(
            "One per line, for example CF-Access-Client-Id: abc. Values are stored encrypted and "
            "never shown again. A line with dots keeps its value."
        ),
    )
    proxy = _text(
        _("Proxy"),
        _(
            "http://proxy.example.com:3128. Leave empty to use HTTPS_PROXY, HTTP_PROXY and "
            "NO_PROXY of the server's environment."
        ),
        max_length=300,
    )
    ca_bundle = _ServerFile(
        _("CA bundle"), _("Path of a PEM file on the server with the certificates to trust.")
    )
    client_certificate = _ServerFile(
        _("Client certificate"), _("Path of a PEM file on the server, for mutual TLS.")
    )
    client_key = _ServerFile(
        _("Client key"), _("Path of its key, unless the certificate file contains it.")
    )
    streams = _switch(_("Streams answers"), _("Turn off for servers that can't stream."))
    merges_messages = _switch(
        _("Merge adjacent messages"),
        _("For models whose messages must alternate between user and assistant."),
    )
    has_system_role = _switch(
        _("Has a system role"),
        _("Turn off for models without one. The prompt is sent in the first message."),
    )

    def clean_proxy(self) -> str:
        proxy = str(self.cleaned_data["proxy"]).rstrip("/")
        if proxy and not is_proxy_url(proxy):
            text = _(
                "Enter the full URL, without user name and password: "
                "http://proxy.example.com:3128. A proxy that needs them goes into HTTPS_PROXY."
            )
            raise forms.ValidationError(text)
        return proxy

    def clean_headers(self) -> dict[str, str]:
        """Parse one header on each line."""
        headers: dict[str, str] = {}
        for line in filter(None, map(str.strip, self.cleaned_data["headers"].splitlines())):
            name, colon, value = (part.strip() for part in line.partition(":"))
            is_value = value == MASK or (value.isascii() and value.isprintable())
            if not (colon and value and _HEADER_NAME.fullmatch(name) and is_value):
                raise forms.ValidationError(_("Enter one header per line: Name: value"))
            if name.lower() in _RESERVED_HEADERS:
                text = _("The header %(name)s can't be set.")
                raise forms.ValidationError(text, params={"name": name})
            headers[name] = value
        return headers


def initial_options(options: Mapping[str, Json]) -> dict[str, Any]:
    """Return the values of the fields for stored options; headers are apart."""
    defaults = ProviderOptions()
    return {name: options.get(name, getattr(defaults, name)) for name in OPTIONS}


def changed_options(values: Mapping[str, Any]) -> dict[str, Json]:
    """Return the options that differ from their defaults: what is stored."""
    defaults = ProviderOptions()
    return {
        name: values[name]
        for name in sorted(OPTIONS)
        if name in values and values[name] != getattr(defaults, name)
    }
