"""The smallest environment that production starts with."""

import os
import secrets

from copilot_admin.config.encryption import create_key


def production_environment(data_dir: str) -> dict[str, str]:
    """Return the variables of a production server."""
    return {
        "PATH": os.environ["PATH"],
        "COPILOT_ENV": "production",
        "COPILOT_DATA_DIR": data_dir,
        "SECRET_KEY": secrets.token_urlsafe(64),
        "COPILOT_ENCRYPTION_KEYS": create_key(),
        "ALLOWED_HOSTS": "copilots.example.com",
    }
