#!/usr/bin/env python
"""Run a management command: `manage.py help` lists them."""

import os
import sys


def main() -> None:
    """Run a management command."""
    from django.core.management import execute_from_command_line
    from django.db import DatabaseError, InterfaceError, OperationalError

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "copilot_admin.settings")
    os.umask(0o077)  # databases, exports and backups hold conversations
    try:
        execute_from_command_line(sys.argv)
    except (DatabaseError, InterfaceError, OperationalError) as error:
        from copilot_admin.server.database_check import describe_database_error

        if "--traceback" in sys.argv:
            raise
        sys.exit(f"CommandError: {describe_database_error(error)}")


if __name__ == "__main__":
    main()
