#!/usr/bin/env python
"""Runs the commands of the project: `manage.py help` lists them."""

from collections.abc import Sequence
from contextlib import ExitStack
import os
import signal
import sys

HEARS_INTERRUPT = (
    signal.getsignal(signal.SIGINT) is signal.default_int_handler
)  # nohup has it ignored
if __name__ == "__main__" and HEARS_INTERRUPT:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until all is loaded there is nothing to put away

from django.core.management import execute_from_command_line  # noqa: E402
from django.db import DatabaseError, Error, InterfaceError, OperationalError  # noqa: E402

from copilot_admin.management.standard_streams import (  # noqa: E402
    ending_with_output,
    open_streams,
)
from copilot_admin.management.stopping import stopping_in_a_word  # noqa: E402

NOT_RUN = 2  # exit status, as of arguments that a command does not know
# Of these, 1 says that something is not as it should be.
ANSWERING = frozenset({"audit", "copilots", "replay"})
# These go on without an output: nobody need read it.
SERVING = frozenset({"serve", "worker", "db_worker", "runserver", "runworker"})
# These have handlers of their own, which put those that they found back. Until they have set them, as
# while all is loaded, Ctrl-C is not theirs.
HANDLING_SIGNALS = SERVING | {"quickstart"}


def main(argv: Sequence[str]) -> None:
    """Run a command; a database that cannot be used is one line, `--traceback` shows more.

    So is an argument that is no text: names of files may be none, and any other is refused where it is used.
    """
    try:
        execute_from_command_line(list(argv))
    except Error as error:
        # The error came from a database, so the settings are read and the apps are loaded.
        from copilot_admin.server.database_check import describe_database_error, is_missing_table

        is_outage = type(error) in {DatabaseError, InterfaceError, OperationalError}
        if not (is_outage or is_missing_table(error)) or "--traceback" in argv:
            raise
        sys.stderr.write(f"CommandError: {describe_database_error(error)}\n")
        sys.exit(NOT_RUN if is_answering(argv) else 1)
    except UnicodeEncodeError:
        odd = [one for one in argv if not is_text(one)]
        if not odd or "--traceback" in argv:
            raise
        sys.stderr.write(f"CommandError: {odd[0]!r} is no text in UTF-8.\n")
        sys.exit(NOT_RUN)


def is_answering(argv: Sequence[str]) -> bool:
    """Whether a command says with the status 1 how something is."""
    return not ANSWERING.isdisjoint(argv[1:2])


def is_text(argument: str) -> bool:
    """Whether an argument came in UTF-8; of what did not, Python keeps the bytes as halves of surrogates."""
    return not any("\ud800" <= sign <= "\udfff" for sign in argument)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "copilot_admin.settings")
    # As the server does: whoever migrates first makes the database, and commands write what was said.
    os.umask(0o077)
    open_streams()
    status = NOT_RUN if is_answering(sys.argv) else 1
    with ExitStack() as around:
        if "--traceback" not in sys.argv:
            handled = not HANDLING_SIGNALS.isdisjoint(sys.argv[1:2])
            around.enter_context(stopping_in_a_word(unwinding_sigterm=not handled))
        if SERVING.isdisjoint(sys.argv[1:2]):
            around.enter_context(ending_with_output(status=status))
        if HEARS_INTERRUPT:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        main(sys.argv)
