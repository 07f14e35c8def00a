"""A mail is handed over beside everything else, and what the mail server makes of it is told."""

from smtplib import SMTPRecipientsRefused
from threading import BoundedSemaphore, Event, Thread
from threading import enumerate as running
from typing import Any

from django.core import mail
from django.core.mail import EmailMessage
import pytest

from copilot_admin.accounts import mailing
from copilot_admin.accounts.mailing import TOO_SLOW, hand_over
from tests.polling import HANGS_SECONDS

MESSAGE = EmailMessage("Hello", "You.", "a@example.com", ["b@example.com"])


def came_of(message: EmailMessage) -> str:
    return hand_over(message).result(HANGS_SECONDS)


def senders() -> list[Thread]:
    return [one for one in running() if one.name == "mail"]


class Odd(EmailMessage):
    """A mail that does as it is told when it is sent."""

    def __init__(self, does: Any) -> None:
        super().__init__("Hello", "You.", "a@example.com", ["b@example.com"])
        self.does = does

    def send(self, *_: Any, **options: Any) -> int:
        self.does()
        return 1


def raising(error: Exception) -> Any:
    def does() -> None:
        raise error

    return does


def test_a_mail_that_is_taken_leaves_nothing_to_tell():
    assert came_of(MESSAGE) == ""
    assert [one.subject for one in mail.outbox] == ["Hello"]


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (ConnectionRefusedError(111, "refused"), "ConnectionRefusedError: [Errno 111] refused"),
        (SMTPRecipientsRefused({}), "SMTPRecipientsRefused: {}"),
        (ValueError("a line end"), "ValueError: a line end"),
    ],
)
def test_why_one_is_not_taken_is_told(error: Exception, why: str):
    assert came_of(Odd(raising(error))) == why


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_who_waits_hears_of_a_fault_too():
    assert came_of(Odd(raising(KeyError()))) == "Sending it broke."
    for thread in senders():
        thread.join(HANGS_SECONDS)  # it raises the fault once more, in this test and in no other


def test_a_mail_server_that_never_answers_keeps_no_process_and_few_threads(monkeypatch):
    monkeypatch.setattr(mailing, "_free", BoundedSemaphore(1))
    monkeypatch.setattr(mailing, "PATIENCE_SECONDS", 0.01)
    asked, answers = Event(), Event()
    sending = hand_over(Odd(lambda: asked.set() or answers.wait()))
    assert asked.wait(HANGS_SECONDS)
    assert all(one.daemon for one in senders()), "a process ends without them"
    assert came_of(MESSAGE) == TOO_SLOW
    answers.set()
    assert sending.result(HANGS_SECONDS) == ""


def test_where_the_system_has_no_more_threads_that_is_told(monkeypatch):
    monkeypatch.setattr(Thread, "start", lambda self: raising(RuntimeError("no more"))())
    assert came_of(MESSAGE) == "no more"
