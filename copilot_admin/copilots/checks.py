"""System checks for `manage.py check`; `environment` rejects wrong settings before them."""

from collections.abc import Sequence
import os
from pathlib import Path
import ssl
from typing import Any

from django import db
from django.apps.config import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register

from copilot_admin.agent.components.registry import registry
from copilot_admin.copilots.providers import key_problem
from copilot_admin.models import Provider

COMPONENTS, NAMES = "components", "names"  # checked by `serve` too
CERTIFICATE_VARIABLES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")
OTHERS = 0o077  # the permissions of everybody but the owner


@register(Tags.security)
def check_exposure(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    """Warn about metrics that everyone can read, and about proxies that can't name users."""
    found: list[CheckMessage] = []
    if settings.METRICS.is_open_to_everyone:  # in production, the server doesn't start
        text = "COPILOT_METRICS_ALLOW is open to everyone."
        hint = "Name networks, or set COPILOT_METRICS_TOKEN as well."
        found.append(Warning(text, hint=hint, id="copilot.W014"))
    proxies = settings.USER_PROXIES
    if proxies.headers and not proxies.networks:
        text = f"The header {proxies.headers[0]} names users, but no proxy may set it."
        hint = "Name the proxies in COPILOT_USER_PROXIES, or leave the header out."
        found.append(Warning(text, hint=hint, id="copilot.W012"))
    return found


@register(NAMES)
def check_names(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    """Warn about variables that begin like settings but set nothing."""
    hint = "Correct the name as docs/settings.md writes it, or remove the variable."
    return [
        Warning(f"There is no setting {name}.", hint=hint, id="copilot.W015")
        for name in settings.UNKNOWN_VARIABLES
    ]


@register("files")
def check_folders(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    """Check that only this user can read the data, and that keys are stored elsewhere."""
    found: list[CheckMessage] = []
    data, keys = Path(settings.DATA_DIR), Path(settings.KEYS_DIR)
    if not os.access(data, os.W_OK | os.X_OK):
        text = f"The data directory {data} cannot be written."
        hint = "Give it to the user that runs the server, or set COPILOT_DATA_DIR."
        found.append(Error(text, hint=hint, id="copilot.E006"))
    elif data.stat().st_mode & OTHERS:
        text = f"Other users may enter the data directory {data}."
        hint = f"It contains conversations: chmod 700 {data}"
        found.append(Warning(text, hint=hint, id="copilot.W007"))
    if keys.resolve().is_relative_to(data.resolve()):
        text = f"The keys in {keys} lie inside the data directory."
        hint = "A stolen backup of the data would contain the keys. Move the data."
        found.append(Error(text, hint=hint, id="copilot.E008"))
    return found


@register("files")
def check_certificates(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    """Warn about files without certificates: OpenSSL ignores them and trusts no server."""
    found: list[CheckMessage] = []
    for name in CERTIFICATE_VARIABLES:
        path = os.environ.get(name, "")
        if not path or Path(path).is_dir():
            continue
        try:
            ssl.create_default_context(cafile=path)
        except OSError as error:
            reason = "no certificates" if isinstance(error, ssl.SSLError) else error.strerror
            hint = "Until it is fixed, no server with a certificate of its issuers is trusted."
            found.append(Warning(f"{name}: {path}: {reason}.", hint=hint, id="copilot.W013"))
    return found


@register(Tags.database)
def check_provider_keys(
    app_configs: Sequence[AppConfig] | None, databases: Sequence[str] | None = None, **_: Any
) -> list[CheckMessage]:
    """Warn about providers whose key can't be read; runs with `--database`."""
    try:
        providers = list(Provider.objects.order_by("name")) if databases else []
    except db.Error:  # not migrated yet: there are no providers
        return []
    hint = "Copilots on this provider answer with a warning until then."
    return [
        Warning(problem, hint=hint, obj=provider, id="copilot.W009")
        for provider in providers
        if (problem := key_problem(provider))
    ]


@register(COMPONENTS)
def check_components(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    hint = "Fix it. `manage.py check_components` also runs its samples."
    return [Error(fault.sentence, hint=hint, id="copilot.E011") for fault in registry().faults]
