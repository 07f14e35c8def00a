"""What happens once, when the database is new: an admin and a few copilots to try."""

from dataclasses import dataclass, field
import os
from pathlib import Path
import secrets

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import transaction

from copilot_admin.audit.parties import Actor, Subject
from copilot_admin.audit.recording import record
from copilot_admin.errors import ConfigurationError
from copilot_admin.import_export.import_trail import record_import
from copilot_admin.import_export.importing import import_values
from copilot_admin.import_export.yaml_reading import read_yaml
from copilot_admin.models import Access, Action
from protocol.json import Json

SAMPLES = Path(__file__).resolve().parent.parent / "samples" / "copilots.yaml"
USERNAME = "admin"
OPENAI_URL = "https://api.openai.com/v1"
OPENAI_PROVIDER = "OpenAI"
MOST_LINES_BEFORE = 100  # of fifty log-ins; whoever tries first starts makes one each time


@dataclass(frozen=True, slots=True)
class FirstLogin:
    """The first admin's way in, and the file that keeps it."""

    username: str
    password: str = field(repr=False)
    file: Path


def first_start(file: Path) -> FirstLogin | None:
    """Makes the first admin and the sample copilots, unless there is an admin already.

    What people delete later stays deleted: a server starts for the first time only once.

    Args:
        file: Where the password is kept, readable by its owner only.

    Raises:
        ConfigurationError: It cannot be kept; then nobody is made either.
    """
    users = get_user_model()._default_manager
    with transaction.atomic():
        if users.filter(is_superuser=True).exists():
            return None
        login = FirstLogin(USERNAME, secrets.token_urlsafe(12), file)
        admin = users.create_superuser(username=login.username, password=login.password)
        changes = import_values(sample_file(), default_access=Access.OPEN, publishing=True)
        record(Action.ADDED, by=Actor.server(), on=Subject.of(admin))
        record_import(changes, by=Actor.server())
        _keep(login)
    return login


def sample_file() -> Json:
    """The sample copilots: on OpenAI's models where the environment names them, else rehearsed."""
    file = read_yaml(SAMPLES.read_text(encoding="utf-8"))
    if settings.OPENAI_API_KEY or settings.OPENAI_BASE_URL:
        file["providers"] = [_openai_provider()]
        for entry in file["copilots"]:
            entry |= {"provider": OPENAI_PROVIDER, "model": settings.OPENAI_MODEL}
    checked: Json = file
    return checked


def _openai_provider() -> dict[str, str]:
    return {
        "name": OPENAI_PROVIDER,
        "kind": "openai_compatible",
        "base_url": settings.OPENAI_BASE_URL or OPENAI_URL,
        "api_key_env": "OPENAI_API_KEY" if settings.OPENAI_API_KEY else "",
    }


def _keep(login: FirstLogin) -> None:
    try:
        login.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if login.file.exists():
            _set_aside(login.file)
        login.file.unlink(missing_ok=True)  # one that somebody may read would keep its mode
        said = f"username: {login.username}\npassword: {login.password}\n"
        _write_privately(login.file, said.encode(), os.O_EXCL)
    except OSError as error:
        raise ConfigurationError(
            f"The first log-in cannot be kept in {login.file}: {error.strerror}. Let this account "
            "write there, and start again."
        ) from error


def _set_aside(file: Path) -> None:
    """Puts a log-in behind the last ones: it may be of another data folder that is still in use."""
    earlier = file.with_name(f"{file.stem}.before{file.suffix}")
    _write_privately(earlier, file.read_bytes(), os.O_APPEND)
    lines = earlier.read_bytes().splitlines(keepends=True)
    if len(lines) > MOST_LINES_BEFORE:
        kept = earlier.with_name(f"{earlier.name}.new")
        kept.unlink(missing_ok=True)
        _write_privately(kept, b"".join(lines[-MOST_LINES_BEFORE:]), os.O_EXCL)
        kept.replace(earlier)


def _write_privately(file: Path, said: bytes, how: int) -> None:
    """Writes what only the owner of a new file may read."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | how, 0o600)
    with os.fdopen(descriptor, "wb") as opened:
        opened.write(said)
