"""The settings of a server that a test starts: its own, but no deadline ends on a busy machine."""

from copilot_admin.settings import *  # noqa: F403
from copilot_admin.settings import DATABASES

# The server waits 2 s for a connection and 4 s for a statement, as its clients would not for more.
# Where both cores are busy, a process that has just started needs longer for its first ones.
_options = DATABASES["default"]["OPTIONS"]
_options["pool"] = {**_options["pool"], "timeout": 60}
if "options" in _options:  # PgBouncer takes none
    _options["options"] = "-c statement_timeout=120000 -c lock_timeout=60000"
DATABASE_WAIT_SECONDS = 60.0
