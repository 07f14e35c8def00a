"""First start with a new database: the first admin and the sample copilots."""

from dataclasses import dataclass, field
from pathlib import Path
import secrets

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import transaction

from copilot_admin.audit.recording import Actor, Subject, record
from copilot_admin.errors import ConfigurationError
from copilot_admin.import_export.changes import record_import
from copilot_admin.import_export.importing import import_values
from copilot_admin.import_export.reading import read_yaml
from copilot_admin.models import Access, Action
from copilot_admin.server.local_models import LocalServer, find_local_servers
from protocol.json import JsonObject, list_of

SAMPLES = Path(__file__).resolve().parent.parent / "samples" / "copilots.yaml"
LOGIN_FILE = "first-login.txt"
USERNAME = "admin"
OPENAI_URL = "https://api.openai.com/v1"
OPENAI_PROVIDER = "OpenAI"


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

    Raises:
        ConfigurationError: Production has no admin yet, or the password cannot be stored.
    """
    users = get_user_model()._default_manager
    with transaction.atomic():
        if users.filter(is_superuser=True).exists():
            return None
        if settings.PRODUCTION:
            raise ConfigurationError(
                "There is no admin yet. Create one with `manage.py createsuperuser`, then start again."
            )
        login = FirstLogin(
            USERNAME,
            secrets.token_urlsafe(12),
            Path(settings.DATA_DIR, LOGIN_FILE),
            tuple(find_local_servers()),
        )
        admin = users.create_superuser(username=login.username, password=login.password)
        samples = dict(read_samples())
        found = [server.provider for server in login.local_servers]
        samples["providers"] = [*list_of(samples["providers"]), *found]
        changes = import_values(samples, default_access=Access.OPEN, publishing=True)
        record(Action.ADDED, by=Actor.server(), on=Subject.of(admin))
        record_import(changes, by=Actor.server())
        _store(login)
    return login


def read_samples() -> JsonObject:
    """Return the sample copilots, on OpenAI's models if the environment configures them."""
    file = read_yaml(SAMPLES.read_text(encoding="utf-8"))
    if settings.OPENAI_API_KEY or settings.OPENAI_BASE_URL:
        provider = {
            "name": OPENAI_PROVIDER,
            "kind": "openai_compatible",
            "base_url": settings.OPENAI_BASE_URL or OPENAI_URL,
            "api_key_env": "OPENAI_API_KEY" if settings.OPENAI_API_KEY else "",
        }
        file["providers"] = [provider]
        for entry in file["copilots"]:
            entry |= {"provider": OPENAI_PROVIDER, "model": settings.OPENAI_MODEL}
    samples: JsonObject = file
    return samples


def _store(login: FirstLogin) -> None:
    try:
        login.file.unlink(missing_ok=True)
        login.file.touch(mode=0o600, exist_ok=False)
        login.file.write_text(f"username: {login.username}\npassword: {login.password}\n")
    except OSError as error:
        raise ConfigurationError(
            f"Could not write {login.file}: {error.strerror}. Make the folder writable, then start again."
        ) from error
