"""The providers of the database as the engine needs them, keys included."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from copilot_admin.config import logs
from copilot_admin.config.encryption import SealedPlace, seal, unseal
from copilot_admin.config.env import BadSetting, process_environment
from copilot_admin.engine.values.spec import ProviderSpec, Timeouts, ToolCalling
from copilot_admin.errors import ConfigurationError, KeyVariableUnset
from copilot_admin.models import Provider
from protocol.json import Json

HINT_LENGTH = 4
TIMEOUTS = ("connect", "first_token", "between_tokens", "total")
# Variables of this service itself: a builder could otherwise send them to a server of his own.
OWN_VARIABLES = frozenset(
    {
        "COPILOT_ENV",
        "SECRET_KEY",
        "DATABASE_URL",
        "REDIS_URL",
        "COPILOT_DATA_DIR",
        "COPILOT_ENCRYPTION_KEYS",
        "PUBLIC_URL",
        "ALLOWED_HOSTS",
        "CORS_ORIGINS",
        "OPENAI_BASE_URL",
    }
)


def provider_spec(provider: Provider) -> ProviderSpec:
    """The provider as the engine needs it.

    Raises:
        ConfigurationError: Its key cannot be had.
    """
    return ProviderSpec(
        name=provider.name,
        kind=provider.kind,
        base_url=provider.base_url,
        api_key=api_key_of(provider),
        timeouts=read_timeouts(provider.timeouts),
        tool_calling=ToolCalling(provider.tool_calling),
    )


def api_key_of(provider: Provider) -> str:
    """The key of a provider: the stored one, else the one in its variable; empty without either.

    Raises:
        ConfigurationError: The stored key does not open, or the variable is unset or forbidden.
    """
    key = ""
    if provider.api_key_cipher:
        key = unseal(provider.api_key_cipher, place=_place(provider))
    elif provider.api_key_env:
        key = _key_in_variable(provider)
    logs.hide(key)
    return key


def set_api_key(provider: Provider, text: str) -> None:
    """Stores a key, sealed, on a provider that has been saved; an empty text removes it."""
    if provider.pk is None:
        raise ValueError("a key is bound to its row: save the provider first")
    text = text.strip()
    provider.api_key_cipher = seal(text, place=_place(provider)) if text else ""
    # A hint of a short key would be most of the key.
    provider.api_key_hint = text[-HINT_LENGTH:] if len(text) >= 4 * HINT_LENGTH else ""
    provider.save(update_fields=["api_key_cipher", "api_key_hint", "updated_at"])


def forget_key_if_moved(provider: Provider, base_url: str) -> None:
    """Drops the stored key when the address leads to another server. Does not save.

    Whoever may change an address could otherwise have the key sent to a server of his own.
    """
    if _origin(provider.base_url) != _origin(base_url):
        provider.api_key_cipher = provider.api_key_hint = ""


def is_own_variable(name: str) -> bool:
    """Whether an environment variable is one of this service, which no provider may read."""
    return name.startswith("COPILOT_") or name.removesuffix("_FILE") in OWN_VARIABLES


def read_timeouts(timeouts: Mapping[str, Json]) -> Timeouts:
    """The patience with a provider, in seconds; what is not set keeps its default."""
    given = {
        name: float(value)
        for name in TIMEOUTS
        if isinstance(value := timeouts.get(name), int | float)
    }
    return Timeouts(**given)


def _key_in_variable(provider: Provider) -> str:
    name = provider.api_key_env
    if is_own_variable(name):
        raise ConfigurationError(
            f"Provider '{provider.name}' may not use the variable {name}: it belongs to this "
            "service. Put the key into a variable of its own."
        )
    try:
        key = process_environment().secret(name)
    except BadSetting as error:
        raise ConfigurationError(error.sentence) from error
    if not key:
        raise KeyVariableUnset(
            f"Provider '{provider.name}' uses the key in the variable {name}, which is not set. "
            "Set it or enter a key."
        )
    return key


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url.strip().lower())
    return parts.scheme, parts.netloc


def _place(provider: Provider) -> SealedPlace:
    return SealedPlace(table="provider", row=str(provider.pk), field="api_key")
