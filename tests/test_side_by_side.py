"""Commands run beside each other, all to their ends, and it is said which of them failed."""

from pathlib import Path
import subprocess
import sys

from tests.side_by_side import main
from tests.waiting import HANGS_SECONDS

PYTHON = f"{sys.executable} -I -S -c"


def run(*lines: str) -> tuple[int, str]:
    """Their status, and all that was printed."""
    command = [sys.executable, "-m", "tests.side_by_side", *lines]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.returncode, done.stdout


def test_each_waits_for_what_another_one_does(tmp_path):
    there = Path(tmp_path / "there")
    waits = (
        f"import os, time; end = time.monotonic() + {HANGS_SECONDS}\n"
        f"while not os.path.exists({str(there)!r}):\n"
        "    assert time.monotonic() < end; time.sleep(0.01)\n"
    )
    makes = f"open({str(there)!r}, 'w').close()"
    assert main([f'{PYTHON} "{waits}"', f'{PYTHON} "{makes}"']) == 0


def test_what_one_prints_stands_below_its_name_and_the_last_is_shown_as_it_comes():
    both = "import os; os.write(1, b'to one\\n'); os.write(2, b'to the other\\n')"
    first, last = f'{PYTHON} "{both}"', f"{PYTHON} \"print('shown')\""
    status, printed = run(first, last)
    assert status == 0
    assert f"== {first}: passed\nto one\nto the other\n" in printed
    assert f"== {last}: passed\n" in printed
    assert printed.count("shown\n") == 1
    assert printed.endswith("\nAll checks passed.\n")


def test_those_that_fail_are_named_at_the_end_and_the_others_run_on(tmp_path):
    marker = tmp_path / "ran"
    fails = f'{PYTHON} "raise SystemExit(3)"'
    writes = f"{PYTHON} \"open({str(marker)!r}, 'w').close()\""
    status, printed = run(fails, "no-such-program --check", writes)
    assert (status, marker.exists()) == (1, True)
    assert f"== {fails}: failed (3)\n" in printed
    assert "== no-such-program --check: failed (127)\n[Errno 2] No such file" in printed
    assert printed.endswith(f"\nFAILED: {fails}, no-such-program --check\n")


def test_the_last_one_may_fail_too():
    fails = f'{PYTHON} "raise SystemExit(1)"'
    status, printed = run(f'{PYTHON} ""', fails)
    assert status == 1
    assert printed.endswith(f"\nFAILED: {fails}\n")
