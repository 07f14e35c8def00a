"""A command whose output goes nowhere ends in a word: without a traceback, and not as if all were well."""

from contextlib import closing
import os
from pathlib import Path
import subprocess
import sys

import pytest

ROOT = Path(__file__).resolve().parents[2]
# A command that writes in a way, as `manage.py` runs it; the tests of this file need no more of Django.
COMMAND = """
import sys
from copilot_admin.management.standard_streams import ending_with_output, open_streams
open_streams()
with ending_with_output(status=7):
    {does}
    print("it went on", file=sys.stderr)
"""
WAYS = {
    "print": "print('said', flush=True)",
    "document": "sys.stdout.buffer.write(b'a' * 100_000)",
    "caught": "\n    try: print('said', flush=True)\n    except Exception: pass",
    "left to the end": "print('said'); sys.exit(0)",
}
BROKEN, FULL, CLOSED = "", "No space left on device", "Bad file descriptor"


def ended(program, *, fault, unbuffered=False, **environment):
    """The status and the words of a program whose output has such a fault."""
    environment |= {"PYTHONPATH": str(ROOT)} | ({"PYTHONUNBUFFERED": "1"} if unbuffered else {})
    with closing(os.fdopen(_output(fault), "wb")) as output:
        done = subprocess.run(
            [sys.executable, *program],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.PIPE,
            env=environment,
            preexec_fn=(lambda: os.close(1)) if fault == CLOSED else None,
            cwd=ROOT,
            text=True,
        )
    return done.returncode, done.stderr


def _output(fault):
    if fault:
        return os.open("/dev/full", os.O_WRONLY)
    read, write = os.pipe()
    os.close(read)
    return write


def said_of(fault):
    return f"CommandError: The standard output takes nothing: {fault}.\n" if fault else ""


@pytest.mark.parametrize(
    ("way", "fault", "unbuffered"),
    [
        *((way, BROKEN, False) for way in WAYS),
        *((way, BROKEN, True) for way in WAYS),
        ("print", FULL, False),
        ("left to the end", FULL, False),
        ("print", CLOSED, False),
        ("left to the end", CLOSED, True),
    ],
)
def test_an_output_that_takes_nothing_ends_the_command(way, fault, unbuffered):
    program = ["-c", COMMAND.format(does=WAYS[way])]
    assert ended(program, fault=fault, unbuffered=unbuffered) == (7, said_of(fault))


def test_a_command_that_says_nothing_goes_on():
    assert ended(["-c", COMMAND.format(does="pass")], fault=CLOSED) == (0, "it went on\n")


def test_no_file_takes_the_place_of_a_stream_that_is_closed():
    program = COMMAND.format(does="print(open('/dev/null').fileno() > 2, file=sys.stderr)")
    assert ended(["-c", program], fault=CLOSED) == (0, "True\nit went on\n")


AMID_ROWS = """
    def rows():
        try:
            while True:
                yield 1
        finally:
            raise ValueError("the connection is closed")
    def tell():
        for row in rows():
            print("said", flush=True)
    tell()
"""


def test_what_it_read_ends_without_a_word():
    told = ended(["-c", COMMAND.format(does=AMID_ROWS)], fault=CLOSED)
    assert told == (7, said_of(CLOSED))


def test_a_command_that_failed_already_says_that_alone():
    fails = "print('['); sys.exit('CommandError: No such table.')"
    assert ended(["-c", COMMAND.format(does=fails)], fault=CLOSED) == (
        1,
        "CommandError: No such table.\n",
    )


def test_what_a_command_said_before_it_failed_is_written(tmp_path):
    program = COMMAND.format(does="print('said'); sys.exit('CommandError: No.')")
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (1, "said\n", "CommandError: No.\n")


def test_an_input_that_is_closed_is_empty():
    program = COMMAND.format(does="print(sys.stdin.buffer.read())")
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        capture_output=True,
        check=False,
        text=True,
        preexec_fn=lambda: os.close(0),
    )
    assert (done.stdout, done.stderr) == ("b''\n", "it went on\n")


IN_A_THREAD = """
    from threading import Thread
    def say():
        try:
            print("said", flush=True)
        except OSError as error:
            print(error.strerror, file=sys.stderr)
    thread = Thread(target=say)
    thread.start()
    thread.join()
"""


def test_a_thread_of_a_server_is_told_what_is_wrong():
    told = ended(["-c", COMMAND.format(does=IN_A_THREAD)], fault=BROKEN)
    assert told == (7, "Broken pipe\nit went on\n")


@pytest.mark.parametrize(
    ("command", "status", "environment"),
    [("help", 1, {"DJANGO_SETTINGS_MODULE": "tests.management.few_settings"}), ("copilots", 2, {})],
)
def test_manage_py_ends_so(command, status, environment):
    arguments = ["manage.py", command, "--help"]
    assert ended(arguments, fault=BROKEN, **environment) == (status, "")
