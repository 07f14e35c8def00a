"""The settings of the service, over data that dies with the test process."""

import atexit
import os
from pathlib import Path
import tempfile

_var = tempfile.TemporaryDirectory(prefix="copilot-admin-tests-")
atexit.register(_var.cleanup)
os.environ["COPILOT_ENV"] = "development"
os.environ["COPILOT_DATA_DIR"] = str(Path(_var.name) / "data")
os.environ["SECRET_KEY"] = "the tests have a secret key of their own, known to all of them"
os.environ["COPILOT_ENCRYPTION_KEYS"] = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "PUBLIC_URL", "CORS_ORIGINS", "REDIS_URL"):
    os.environ.pop(name, None)

from copilot_admin.settings import *  # noqa: E402, F403
from copilot_admin.settings import DATABASES  # noqa: E402

# A file: the threads of the journal have connections of their own. Every process its own
# database: several runs may share a machine.
DATABASES["default"]["TEST"] = {
    "NAME": (
        str(Path(_var.name) / "test.sqlite3")
        if DATABASES["default"]["ENGINE"].endswith("sqlite3")
        else f"test_copilot_admin_{os.getpid()}"
    )
}
# Logging in is not what the tests are about: a hash that costs nothing.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
