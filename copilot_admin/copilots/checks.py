"""System checks: what `manage.py check` says before the first user would."""

from collections.abc import Iterator, Sequence
import os
from pathlib import Path
from typing import Any

from django import db
from django.apps.config import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register

from copilot_admin.agent.components.registry import registry
from copilot_admin.config.networks import covers_everyone
from copilot_admin.copilots.providers import api_key_of
from copilot_admin.errors import ConfigurationError
from copilot_admin.models import Provider

COMPONENTS = "components"  # checked by `serve` too
OTHERS = 0o077  # the permissions of everybody but the owner


@register(Tags.database)
def check_database(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    """The database is reached in the way that streams need."""
    return [message for alias in settings.DATABASES for message in _of_database(alias)]


@register(Tags.security)
def check_exposure(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    """Nothing that production must not show is shown."""
    return list(_exposure()) if settings.PRODUCTION else []


@register(Tags.security)
def check_metrics(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    """Warn about metrics that everyone can read; production does not start with them."""
    if not settings.METRICS.is_open_to_everyone:
        return []
    return [
        Warning(
            "COPILOT_METRICS_ALLOW is open to everyone.",
            hint="Name networks, or set COPILOT_METRICS_TOKEN as well: production requires it.",
            id="copilot.W014",
        )
    ]


@register("files")
def check_folders(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    """Data can be written, by us alone, and the keys are elsewhere."""
    return list(_folders())


@register(Tags.database)
def check_provider_keys(
    app_configs: Sequence[AppConfig] | None, databases: Sequence[str] | None = None, **_: Any
) -> list[CheckMessage]:
    """Every provider's key can be had; reads the database, so it runs with `--database`."""
    if not databases:
        return []
    try:
        providers = list(Provider.objects.order_by("name"))
    except db.Error:  # not migrated yet: there are no providers
        return []
    return [message for provider in providers for message in _of_provider(provider)]


@register(COMPONENTS)
def check_components(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    """Every component keeps the rules that need no run."""
    hint = "Fix it. `manage.py check_components` also runs its samples."
    return [Error(fault.sentence, hint=hint, id="copilot.E011") for fault in registry().faults]


def _of_database(alias: str) -> Iterator[CheckMessage]:
    options = settings.DATABASES[alias]
    if options.get("CONN_MAX_AGE", 0) != 0:
        yield Error(
            f"Database '{alias}' keeps connections for CONN_MAX_AGE={options['CONN_MAX_AGE']}.",
            hint="Set it to 0: under ASGI the threads that own such connections end, and leak them.",
            id="copilot.E001",
        )
    if options.get("ATOMIC_REQUESTS"):
        yield Error(
            f"Database '{alias}' has ATOMIC_REQUESTS.",
            hint="Switch it off: a stream would hold its transaction, and SQLite's only lock.",
            id="copilot.E002",
        )


def _exposure() -> Iterator[CheckMessage]:
    if settings.DEBUG:
        yield Error(
            "DEBUG is on in production.",
            hint="Remove COPILOT_DEBUG: its error pages show settings to strangers.",
            id="copilot.E003",
        )
    if any(host.startswith(("*", ".")) for host in settings.ALLOWED_HOSTS):
        yield Error(
            "ALLOWED_HOSTS holds a wildcard.",
            hint="Name each host: a wildcard lets any web page rebind its name to this server.",
            id="copilot.E004",
        )
    if covers_everyone(settings.TRUSTED_PROXIES):
        yield Error(
            "FORWARDED_ALLOW_IPS trusts every address.",
            hint="Name the addresses of your proxies: uvicorn would believe every X-Forwarded-For.",
            id="copilot.E005",
        )
    proxies = settings.USER_PROXIES
    if proxies.headers and not proxies.networks:
        yield Warning(
            f"The header {proxies.headers[0]} names users, but no proxy may set it.",
            hint="Name the proxies that set it in COPILOT_USER_PROXIES, or leave the header out.",
            id="copilot.W012",
        )


def _folders() -> Iterator[CheckMessage]:
    data, keys = Path(settings.DATA_DIR), Path(settings.KEYS_DIR)
    if not os.access(data, os.W_OK | os.X_OK):
        yield Error(
            f"The data directory {data} cannot be written.",
            hint="Give it to the user that runs the server, or name another in COPILOT_DATA_DIR.",
            id="copilot.E006",
        )
    elif data.stat().st_mode & OTHERS:
        yield Warning(
            f"Other users may enter the data directory {data}.",
            hint=f"It contains conversations: chmod 700 {data}",
            id="copilot.W007",
        )
    if keys.resolve().is_relative_to(data.resolve()):
        yield Error(
            f"The keys in {keys} lie inside the data directory.",
            hint="A stolen backup of the data would contain the keys. Move the data.",
            id="copilot.E008",
        )


def _of_provider(provider: Provider) -> Iterator[CheckMessage]:
    try:
        api_key_of(provider)
    except ConfigurationError as error:
        yield Warning(
            error.public,
            hint="Copilots on this provider answer with a warning until then.",
            obj=provider,
            id="copilot.W009",
        )
