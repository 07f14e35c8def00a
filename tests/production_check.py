"""Runs Django's deployment checks with the settings that production has."""

import os
import secrets
import sys
import tempfile

import django
from django.core.management import CommandError, call_command

from copilot_admin.config.encryption import new_key


def production_environment(data_dir: str) -> dict[str, str]:
    """The smallest environment that production starts with."""
    return {
        "PATH": os.environ["PATH"],
        "COPILOT_ENV": "production",
        "COPILOT_DATA_DIR": data_dir,
        "SECRET_KEY": secrets.token_urlsafe(64),
        "COPILOT_ENCRYPTION_KEYS": new_key(),
        "ALLOWED_HOSTS": "copilots.example.com",
    }


def main() -> int:
    """Checks in this process, which has no other environment; returns its status."""
    with tempfile.TemporaryDirectory() as data_dir:
        production = production_environment(data_dir)
        os.environ.clear()
        os.environ.update(production, DJANGO_SETTINGS_MODULE="copilot_admin.settings")
        django.setup()
        try:
            call_command("check", deploy=True, fail_level="WARNING")
        except CommandError as error:
            print(error, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
