"""First start with a new database: the first admin and the sample copilots."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
import secrets
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import transaction
import httpx2

from copilot_admin.agent.providers.openai_compatible import OpenAICompatible
from copilot_admin.audit.recording import Actor, Subject, record
from copilot_admin.errors import ConfigurationError
from copilot_admin.import_export.changes import record_import
from copilot_admin.import_export.formats import read_yaml
from copilot_admin.import_export.importing import import_values
from copilot_admin.models import Access, Action, Provider
from protocol.json import JsonObject, list_of, object_of

SAMPLES = Path(__file__).resolve().parent.parent / "samples" / "copilots.yaml"
LOGIN_FILE = "first-login.txt"
USERNAME = "admin"
OPENAI_PROVIDER = "OpenAI"
LOCAL_SERVERS = {
    "Ollama": "http://127.0.0.1:11434/v1",
    "LM Studio": "http://127.0.0.1:1234/v1",
}
_TIMEOUT_SECONDS = 1.0
_LOADING_SECONDS = 300  # a local server loads its model on the first request


class LocalServer(NamedTuple):
    name: str
    base_url: str
    models: int

    @property
    def provider(self) -> JsonObject:
        return {
            "name": self.name,
            "kind": OpenAICompatible.kind,
            "base_url": self.base_url,
            "timeout_s": {"first_token": _LOADING_SECONDS},
        }


def find_local_servers() -> Iterator[LocalServer]:
    """Yield the model servers on this machine that have a model and aren't providers yet."""
    known = set(Provider.objects.values_list("base_url", flat=True))
    for name, base_url in LOCAL_SERVERS.items():
        if base_url not in known and (number := _count_models(base_url)):
            yield LocalServer(name, base_url, number)


def _count_models(base_url: str) -> int:
    try:
        # Without the environment: the firm's proxy doesn't reach this machine.
        with httpx2.Client(trust_env=False, timeout=_TIMEOUT_SECONDS) as client:
            models = client.get(f"{base_url}/models").raise_for_status().json()
    except (httpx2.HTTPError, ValueError):
        return 0
    return len(list_of(object_of(models).get("data")))


@dataclass(frozen=True, slots=True)
class FirstLogin:
    """Credentials of the first admin, the file that holds them, and providers that were added."""

    username: str
    password: str = field(repr=False)
    file: Path
    local_servers: tuple[LocalServer, ...] = ()


def prepare_first_start() -> FirstLogin | None:
    """Create the first admin and the sample copilots; None if an admin exists.

    In production no password is generated: it would be printed into a log and stored on disk.
    """
    users = get_user_model()._default_manager
    with transaction.atomic():
        if users.filter(is_superuser=True).exists():
            return None
        if settings.PRODUCTION:
            raise ConfigurationError(
                "There is no admin yet. Create one with `manage.py createsuperuser`, then start again."
            )
        file, servers = Path(settings.DATA_DIR, LOGIN_FILE), tuple(find_local_servers())
        login = FirstLogin(USERNAME, secrets.token_urlsafe(12), file, servers)
        admin = users.create_superuser(username=login.username, password=login.password)
        samples = dict(read_samples())
        found = [server.provider for server in servers]
        samples["providers"] = [*list_of(samples["providers"]), *found]
        changes = import_values(samples, default_access=Access.OPEN, publishing=True)
        record(Action.ADDED, by=Actor.server(), on=Subject.of(admin))
        record_import(changes, by=Actor.server())
        try:
            file.unlink(missing_ok=True)
            file.touch(mode=0o600, exist_ok=False)
            file.write_text(f"username: {login.username}\npassword: {login.password}\n")
        except OSError as error:
            raise ConfigurationError(
                f"Could not write {file}: {error.strerror}. Make the folder writable, then start again."
            ) from error
    return login


def read_samples() -> JsonObject:
    """Return the sample copilots, on OpenAI's models if the environment configures them."""
    file: dict[str, Any] = read_yaml(SAMPLES.read_text(encoding="utf-8"))
    if settings.OPENAI_API_KEY or settings.OPENAI_BASE_URL:
        provider = {
            "name": OPENAI_PROVIDER,
            "kind": "openai_compatible",
            "base_url": settings.OPENAI_BASE_URL or "https://api.openai.com/v1",
            "api_key_env": "OPENAI_API_KEY" if settings.OPENAI_API_KEY else "",
        }
        file["providers"] = [provider]
        for entry in file["copilots"]:
            entry |= {"provider": OPENAI_PROVIDER, "model": settings.OPENAI_MODEL}
    return file
