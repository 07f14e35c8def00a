"""Runs Django's deployment checks with the settings that production has."""

import os
import secrets
import subprocess
import sys
import tempfile

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
    """Checks; returns the status of the process."""
    command = [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"]
    with tempfile.TemporaryDirectory() as data_dir:
        environment = production_environment(data_dir)
        return subprocess.run(command, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
