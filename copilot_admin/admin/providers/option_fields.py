"""Form fields of the options of a provider, and its request headers as text."""

from collections.abc import Iterable, Mapping
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


class OptionFields(forms.Form):
    """Fields with the names of `ProviderOptions`."""

    api_version = forms.CharField(
        label=_("API version"),
        required=False,
        max_length=40,
        help_text=_("Azure: 2024-10-21. Leave empty for the v1 API."),
    )
    deployment = forms.CharField(
        label=_("Deployment"),
        required=False,
        max_length=100,
        help_text=_("Azure with an API version. Leave empty if it is named like the model."),
    )
    uses_entra_id = forms.BooleanField(
        label=_("Sign in with Entra ID"),
        required=False,
        help_text=_(
            "Azure. With tenant and client, the API key is the client secret. Without them, the "
            "identity of this server is used."
        ),
    )
    tenant_id = forms.CharField(label=_("Tenant ID"), required=False, max_length=100)
    client_id = forms.CharField(label=_("Client ID"), required=False, max_length=100)
    organization = forms.CharField(label=_("Organization"), required=False, max_length=100)
    project = forms.CharField(
        label=_("Project"),
        required=False,
        max_length=100,
        help_text=_("Of OpenAI, or of Google Cloud."),
    )
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
    proxy = forms.CharField(
        label=_("Proxy"),
        required=False,
        max_length=300,
        help_text=_(
            "http://proxy.example.com:3128. Leave empty to use HTTPS_PROXY, HTTP_PROXY and "
            "NO_PROXY of the server's environment."
        ),
    )
    ca_bundle = forms.CharField(
        label=_("CA bundle"),
        required=False,
        max_length=300,
        help_text=_("Path of a PEM file on the server with the certificates to trust."),
    )
    client_certificate = forms.CharField(
        label=_("Client certificate"),
        required=False,
        max_length=300,
        help_text=_("Path of a PEM file on the server, for mutual TLS."),
    )
    client_key = forms.CharField(
        label=_("Client key"),
        required=False,
        max_length=300,
        help_text=_("Path of its key, unless the certificate file contains it."),
    )
    streams = forms.BooleanField(
        label=_("Streams answers"),
        required=False,
        help_text=_("Turn off for servers that can't stream."),
    )
    merges_messages = forms.BooleanField(
        label=_("Merge adjacent messages"),
        required=False,
        help_text=_("For models whose messages must alternate between user and assistant."),
    )
    has_system_role = forms.BooleanField(
        label=_("Has a system role"),
        required=False,
        help_text=_("Turn off for models without one. The prompt is sent in the first message."),
    )

    def clean_proxy(self) -> str:
        proxy = str(self.cleaned_data["proxy"]).strip().rstrip("/")
        if proxy and not is_proxy_url(proxy):
            raise forms.ValidationError(
                _(
                    "Enter the full URL, without user name and password: "
                    "http://proxy.example.com:3128. A proxy that needs them goes into HTTPS_PROXY."
                )
            )
        return proxy

    def clean_ca_bundle(self) -> str:
        return self._existing_file("ca_bundle")

    def clean_client_certificate(self) -> str:
        return self._existing_file("client_certificate")

    def clean_client_key(self) -> str:
        return self._existing_file("client_key")

    def clean_headers(self) -> dict[str, str]:
        return parse_headers(str(self.cleaned_data["headers"]))

    def _existing_file(self, name: str) -> str:
        path = str(self.cleaned_data[name]).strip()
        if path and not Path(path).is_file():
            raise forms.ValidationError(_("This file doesn't exist on the server."))
        return path


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


def masked_headers(names: Iterable[str]) -> str:
    """Return the text of the field for stored headers."""
    return "\n".join(f"{name}: {MASK}" for name in names)


def parse_headers(text: str) -> dict[str, str]:
    """Return names and values of a text with one header on each line.

    Raises:
        ValidationError: A line is no header that may be set.
    """
    headers: dict[str, str] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        name, colon, value = (part.strip() for part in line.partition(":"))
        is_value = value == MASK or (value.isascii() and value.isprintable())
        if not (colon and value and _HEADER_NAME.fullmatch(name) and is_value):
            raise forms.ValidationError(_("Enter one header per line: Name: value"))
        if name.lower() in _RESERVED_HEADERS:
            raise forms.ValidationError(
                _("The header %(name)s can't be set."), params={"name": name}
            )
        headers[name] = value
    return headers
