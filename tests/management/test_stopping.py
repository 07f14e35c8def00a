"""A command that a signal ends puts away what it began, and says so in a line."""

import os
from pathlib import Path
import signal
import subprocess
import sys

import pytest

from copilot_admin.management.stopping import SAID, stopping_in_a_word

ROOT = Path(__file__).resolve().parents[2]
SIGNALS = (signal.SIGINT, signal.SIGTERM)


@pytest.fixture
def killed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The signals that the process sent to itself, in the place of ending."""
    sent: list[int] = []
    monkeypatch.setattr(os, "kill", lambda pid, number: sent.append(number))
    return sent


@pytest.mark.parametrize("number", SIGNALS)
def test_it_is_unwound_and_ends_as_the_signal_wants(number, killed, capsys):
    with stopping_in_a_word():
        try:
            signal.raise_signal(number)
        finally:
            print("put away")
    assert capsys.readouterr() == ("put away\n", SAID)
    assert killed == [number]
    assert signal.getsignal(number) is signal.SIG_DFL


def test_a_second_signal_ends_at_once_what_does_not_unwind(killed):
    with stopping_in_a_word():
        try:
            signal.raise_signal(signal.SIGTERM)
        finally:
            assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_whoever_handles_signals_already_goes_on_to(killed):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    with stopping_in_a_word():
        signal.raise_signal(signal.SIGTERM)
    assert killed == []


def test_a_signal_that_a_server_sends_itself_again_ends_it_as_it_would_alone(killed):
    before = signal.getsignal(signal.SIGTERM)
    with stopping_in_a_word(unwinding_sigterm=False):
        assert signal.getsignal(signal.SIGTERM) is before
    assert killed == []


@pytest.mark.parametrize("command", ["serve", "worker", "quickstart"])
def test_a_server_that_is_still_being_loaded_ends_so(command, tmp_path):
    loads = tmp_path / "loading_settings.py"
    loads.write_text("print('began', flush=True)\nimport signal\nsignal.pause()\n")
    with subprocess.Popen(
        [sys.executable, "manage.py", command],
        cwd=ROOT,
        env={"DJANGO_SETTINGS_MODULE": "loading_settings", "PYTHONPATH": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == "began\n"
        server.send_signal(signal.SIGINT)
        _, said = server.communicate()
    assert (server.returncode, said) == (-signal.SIGINT, SAID)


@pytest.mark.parametrize("number", SIGNALS)
def test_manage_py_ends_so(number):
    waits = "print('began', flush=True); import signal; signal.pause()"
    with subprocess.Popen(
        [sys.executable, "manage.py", "shell", "--no-imports", "-c", waits],
        cwd=ROOT,
        env={"DJANGO_SETTINGS_MODULE": "tests.management.few_settings"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as command:
        assert command.stdout is not None
        assert command.stdout.readline() == "began\n"
        command.send_signal(number)
        _, said = command.communicate()
    assert (command.returncode, said) == (-number, SAID)
