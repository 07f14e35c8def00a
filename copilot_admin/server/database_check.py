"""Checks of the database before the server starts, and the error message for commands."""

from django import db
from django.conf import settings

from copilot_admin.config.databases import SQLITE
from copilot_admin.config.logs import without_secrets
from copilot_admin.errors import ConfigurationError
from copilot_admin.storage.errors import UNDEFINED_TABLE, sqlstate_of
from copilot_admin.storage.schema import is_current

RUN_MIGRATE = "Run `manage.py migrate`."
_UNDEFINED_COLUMN = "42703"


def check_database() -> None:
    """Connect, and check the schema.

    Raises:
        ConfigurationError: The server cannot start with this database.
    """
    try:
        schema_is_current = is_current()
    except db.Error as error:
        raise ConfigurationError(describe_database_error(error)) from error
    finally:
        db.connections.close_all()
    if not schema_is_current:
        raise ConfigurationError(
            f"The tables of the database are missing or out of date. {RUN_MIGRATE}"
        )


def describe_database_error(error: db.Error) -> str:
    """Return the driver's message in one line, with advice; it names no password."""
    if sqlstate_of(error) in (UNDEFINED_TABLE, _UNDEFINED_COLUMN) or "no such " in str(error):
        advice = RUN_MIGRATE
    elif settings.DATABASES["default"]["ENGINE"] == SQLITE:
        advice = "Check DATABASE_URL, COPILOT_DATA_DIR and the free space of the disk."
    else:
        advice = "Check DATABASE_URL and that PostgreSQL is running."
    message = " ".join(without_secrets(str(error)).split())
    return f"The database cannot be used: {message.rstrip('.')}. {advice}"
