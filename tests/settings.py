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
# All tests ask from one address, and more than a stranger may; servers that they start have this too.
os.environ["COPILOT_ANONYMOUS_CONCURRENT"] = "0"
os.environ["COPILOT_ANONYMOUS_PER_MINUTE"] = "0"
for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "PUBLIC_URL", "CORS_ORIGINS", "REDIS_URL"):
    os.environ.pop(name, None)

from copilot_admin.config.databases import (  # noqa: E402
    SERVER_OPTIONS,
    SQLITE,
    SQLITE_INIT,
)
from copilot_admin.settings import *  # noqa: E402, F403
from copilot_admin.settings import DATABASES  # noqa: E402

# Every process has a database of its own: several runs may share a machine. No row has to survive a
# power cut, and no deadline of a request may end a test that a busy machine is slow at.
_database = DATABASES["default"]
if _database["ENGINE"] == SQLITE:
    # A file: the threads of the journal have connections of their own.
    _database["TEST"] = {"NAME": str(Path(_var.name) / "test.sqlite3")}
    _database["OPTIONS"]["init_command"] = SQLITE_INIT.replace("=FULL", "=OFF")
else:
    _database["TEST"] = {"NAME": f"test_copilot_admin_{os.getpid()}"}
    _database["OPTIONS"] |= {
        "options": f"{SERVER_OPTIONS} -c synchronous_commit=off -c statement_timeout=120000 "
        "-c lock_timeout=60000 -c idle_in_transaction_session_timeout=0",
        "pool": {**_database["OPTIONS"]["pool"], "timeout": 60},
    }
DATABASE_WAIT_SECONDS = 60.0
# Logging in is not what the tests are about: a hash that costs nothing.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
