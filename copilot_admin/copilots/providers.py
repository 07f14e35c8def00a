"""Providers with their keys and headers, and the models that they listed when last fetched."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
import json
import os
from pathlib import Path
from urllib.parse import urlsplit

from asgiref.sync import async_to_sync
from django.apps import apps
from django.conf import settings
from django.core.validators import RegexValidator
from django.db.models import Model
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.agent.providers.registry import make_provider
from copilot_admin.agent.values.spec import ProviderOptions, ProviderSpec, Timeouts, ToolCalling
from copilot_admin.config import logs
from copilot_admin.config.encryption import SecretLocation, decrypt, encrypt
from copilot_admin.config.variables import FILE_SUFFIX, KEY_PREFIX, read_secret
from copilot_admin.errors import ConfigurationError, KeyVariableUnset, RunError
from copilot_admin.models import Provider
from protocol.json import Json

HINT_LENGTH = 4
# Stored as JSON; headers are secrets and have a column of their own.
OPTIONS = frozenset(field.name for field in fields(ProviderOptions)) - {"headers"}
TIMEOUTS = ("connect", "first_token", "between_tokens", "total")
SAMPLE_KEY = "OPENAI_API_KEY"
LIST_OF_OTHERS = "COPILOT_KEY_VARIABLES"
ENVIRONMENT_NAME = RegexValidator(
    r"^([A-Za-z_][A-Za-z0-9_]*)?\Z",
    gettext_lazy(
        "Enter the name of a variable, for example COPILOT_KEY_LOCAL, not the key itself."
    ),
)
TIMEOUT_SECONDS = 10.0  # a page waits; lists take less than a second


def provider_spec(provider: Provider) -> ProviderSpec:
    """Return a provider as the agent needs it; raises `ConfigurationError` if a secret can't be read."""
    return ProviderSpec(
        name=provider.name,
        kind=provider.kind,
        base_url=provider.base_url,
        api_key=api_key_of(provider),
        timeouts=read_timeouts(provider.timeouts),
        tool_calling=ToolCalling(provider.tool_calling),
        options=ProviderOptions(
            **{name: value for name, value in provider.options.items() if name in OPTIONS},
            headers=tuple(read_headers(provider).items()),
        ),
    )


def read_headers(provider: Provider) -> dict[str, str]:
    """Return the request headers of a provider; raises `ConfigurationError` like `provider_spec`."""
    if not provider.headers_cipher:
        return {}
    location = PROVIDER_HEADERS.place(provider.pk)
    headers: dict[str, str] = json.loads(decrypt(provider.headers_cipher, location=location))
    logs.hide(*headers.values())
    return headers


def set_headers(provider: Provider, headers: Mapping[str, str]) -> None:
    """Store the request headers of a saved provider, encrypted; their names stay readable."""
    text, location = json.dumps(dict(headers)), PROVIDER_HEADERS.place(provider.pk)
    provider.headers_cipher = encrypt(text, location=location) if headers else ""
    provider.save(update_fields=["headers_cipher", "updated_at"])


def key_file_times() -> tuple[float, ...]:
    """Return when the files with keys last changed, so that a new key counts without a restart."""
    times = []
    for name, path in os.environ.items():
        if name.endswith(FILE_SUFFIX) and may_hold_key(name.removesuffix(FILE_SUFFIX)):
            with suppress(OSError):
                times.append(Path(path.strip()).stat().st_mtime)
    return tuple(times)


def api_key_of(provider: Provider) -> str:
    """Return the stored key of a provider, else the one in its variable, else an empty text."""
    key = _read_key(provider)
    logs.hide(key)
    return key


def _read_key(provider: Provider) -> str:
    name = provider.api_key_env
    if provider.api_key_cipher:
        return decrypt(provider.api_key_cipher, location=PROVIDER_KEYS.place(provider.pk))
    if not name:
        return ""
    if not may_hold_key(name):
        raise ConfigurationError(
            f"Provider '{provider.name}' may not use the variable {name}. Keys come from: "
            f"{key_variables(name)}. {LIST_OF_OTHERS} allows more names."
        )
    try:
        key = read_secret(name)
    except ValueError as error:
        raise ConfigurationError(str(error)) from error
    if not key:
        raise KeyVariableUnset(
            f"Provider '{provider.name}' uses the key in the variable {name}, which is not set. "
            "Set it or enter a key."
        )
    return key


def set_api_key(provider: Provider, text: str) -> None:
    """Store a key of a saved provider, encrypted; an empty text removes it."""
    if provider.pk is None:
        raise ValueError("a key is bound to its row: save the provider first")
    text, location = text.strip(), PROVIDER_KEYS.place(provider.pk)
    provider.api_key_cipher = encrypt(text, location=location) if text else ""
    # A hint of a short key would be most of the key.
    provider.api_key_hint = text[-HINT_LENGTH:] if len(text) >= 4 * HINT_LENGTH else ""
    provider.save(update_fields=["api_key_cipher", "api_key_hint", "updated_at"])


def forget_secrets_if_moved(provider: Provider, base_url: str, options: Mapping[str, Json]) -> None:
    """Drop the stored key and headers when they would reach another server. Does not save.

    Users who can change a base URL could otherwise have them sent to their own server.
    """
    if get_destination(provider.base_url, provider.options) != get_destination(base_url, options):
        provider.api_key_cipher = provider.api_key_hint = provider.headers_cipher = ""


def check_key_variable(provider: Provider) -> None:
    """Raise `ConfigurationError` if no saved provider sends this key variable to this origin.

    Anybody who may type a base URL could otherwise have the key sent to a server of their own.
    Saving a provider binds its variable to the origin of its base URL, and is audited.
    """
    name = provider.api_key_env
    if not name or provider.api_key_cipher:
        return
    saved = Provider.objects.filter(api_key_env=name).values_list("base_url", "options")
    destination = get_destination(provider.base_url, provider.options)
    if destination not in {get_destination(*row) for row in saved}:
        raise ConfigurationError(
            _(
                "The key in %(name)s is sent only to servers with which a provider was saved. "
                "Save this provider first, or enter its key."
            )
            % {"name": name}
        )


def may_hold_key(name: str) -> bool:
    """Return whether a provider may read its key from an environment variable.

    `NAME_FILE` is read instead of `NAME` and must not be named itself: its path would be sent.
    """
    if name in (SAMPLE_KEY, *settings.KEY_VARIABLES):
        return True
    if name.endswith(FILE_SUFFIX):
        return False
    return name.startswith(KEY_PREFIX) and name not in (KEY_PREFIX, LIST_OF_OTHERS)


def key_variables(wrong: str = "") -> str:
    """Return the allowed names, or the one that a wrong name means."""
    if wrong.endswith(FILE_SUFFIX) and may_hold_key(meant := wrong.removesuffix(FILE_SUFFIX)):
        return meant
    return ", ".join([f"{KEY_PREFIX}...", SAMPLE_KEY, *settings.KEY_VARIABLES])


def read_timeouts(timeouts: Mapping[str, Json]) -> Timeouts:
    """Return the timeouts of a provider; what isn't set keeps its default."""
    values = {name: timeouts.get(name) for name in TIMEOUTS}
    return Timeouts(**{k: float(v) for k, v in values.items() if isinstance(v, int | float)})


def get_destination(url: str, options: Mapping[str, Json]) -> tuple[str, ...]:
    """Return what decides which server reads a key: origin, proxy and trusted certificates."""
    parts = urlsplit(url.strip().lower())
    proxy, bundle = options.get("proxy", ""), options.get("ca_bundle", "")
    return parts.scheme, parts.netloc, str(proxy), str(bundle)


def is_proxy_url(url: str) -> bool:
    """Return whether a text is the URL of a proxy, without credentials, which would be readable."""
    try:
        parts = urlsplit(url)
        is_url = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    return is_url and not (parts.username or parts.password)


def unset_keys() -> tuple[str, ...]:
    rows = Provider.objects.exclude(api_key_env="").order_by("name")
    return tuple(filter(None, map(key_problem, rows)))


def key_problem(provider: Provider) -> str:
    """Return why the key of a provider can't be read; empty if it can, or if there is none."""
    try:
        api_key_of(provider)
    except ConfigurationError as error:
        return error.public
    return ""


@dataclass(frozen=True, slots=True)
class EncryptedColumn:
    """A column of encrypted texts, which a rotation of keys encrypts again."""

    model: str
    column: str  # name of the secret, and "_cipher"
    label: str

    def place(self, row: object) -> SecretLocation:
        name = self.column.removesuffix("_cipher")
        return SecretLocation(table=self.model.lower(), row=str(row), field=name)

    @property
    def rows(self) -> type[Model]:
        return apps.get_model("copilot_admin", self.model)


PROVIDER_KEYS = EncryptedColumn("Provider", "api_key_cipher", "key of a provider")
PROVIDER_HEADERS = EncryptedColumn("Provider", "headers_cipher", "request headers of a provider")
WEBHOOK_SECRETS = EncryptedColumn("AlertWebhook", "secret_cipher", "secret of a webhook")
ENCRYPTED_COLUMNS = (PROVIDER_KEYS, PROVIDER_HEADERS, WEBHOOK_SECRETS)


def fetch_models(provider: Provider) -> tuple[str, ...]:
    """Fetch the models of a provider and store them."""
    found = tuple(async_to_sync(make_provider(provider_spec(provider)).models)())
    keep_models(provider.pk, found)
    provider.model_ids = list(found)
    return found


def ask_all(rows: Mapping[str, Provider]) -> Mapping[str, str]:
    """Fetch and store the models of several providers at once; return errors by name."""

    async def ask(row: Provider) -> tuple[str, ...] | str:
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS):
                return await make_provider(provider_spec(row)).models()
        except TimeoutError:
            return _("No answer within %(seconds)d seconds.") % {"seconds": TIMEOUT_SECONDS}
        except (RunError, ConfigurationError) as error:
            return error.public

    async def ask_each() -> list[tuple[str, ...] | str]:
        return await asyncio.gather(*map(ask, rows.values()))

    errors = {}
    for name, answer in zip(rows, async_to_sync(ask_each)(), strict=True):
        if isinstance(answer, str):
            errors[name] = answer
        else:
            keep_models(rows[name].pk, answer)
    return errors


def keep_models(provider_id: int, models: tuple[str, ...]) -> None:
    record_error(provider_id, "", model_ids=list(models))


def record_error(provider_id: int, error: str, **values: object) -> None:
    values |= {"checked_at": timezone.now(), "check_error": error}
    Provider.objects.filter(pk=provider_id).update(**values)
