"""Whoever handles signals in a test handles them no longer when it has ended."""

import signal

from django.core.management import call_command
import pytest

from tests.signals import HANDLED, listen, put_back


def test_every_test_gives_signals_back(request):
    assert "_signals_are_put_back" in request.fixturenames


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_has_gone_hears_no_signal(settings):
    settings.TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}}
    settings.BACKGROUND = "database"
    before = [signal.getsignal(number) for number in HANDLED]
    with put_back():
        call_command("worker", batch=True, interval=0, startup_delay=False, verbosity=0)
        left = [signal.getsignal(number) for number in HANDLED]
    assert [signal.getsignal(number) for number in HANDLED] == before != left


def test_what_was_started_with_signals_ignored_hears_them():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    listen()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
