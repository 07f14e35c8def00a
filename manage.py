#!/usr/bin/env python
"""Runs the commands of the project: `manage.py help` lists them."""

from collections.abc import Sequence
import os
import sys

from django.core.management import execute_from_command_line
from django.db import Error

from copilot_admin.server.garbage import look_rarely


def main(argv: Sequence[str]) -> None:
    """Runs a command; a database that cannot be used is one line, `--traceback` shows more."""
    try:
        execute_from_command_line(list(argv))
    except Error as error:
        # The error came from a database, so the settings are read and the apps are loaded.
        from copilot_admin.server.database_faults import sentence_for_command

        sentence = sentence_for_command(error, argv)
        if sentence is None:
            raise
        sys.exit(f"CommandError: {sentence}")


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "copilot_admin.settings")
    look_rarely()  # what is loaded now stays: to look through it all the while takes a tenth of a start
    main(sys.argv)
