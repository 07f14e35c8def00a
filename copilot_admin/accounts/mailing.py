"""Hands mails to the mail server, each in a thread of its own.

A mail server that sends a byte at a time holds nothing else: neither what is done in the background nor
the end of the process.
"""

from concurrent.futures import Future
from smtplib import SMTPException
from threading import BoundedSemaphore, Thread

from django.core.mail import EmailMessage

MOST_AT_ONCE = 8
PATIENCE_SECONDS = 60.0  # with the mails before one
TOO_SLOW = "The mail server takes too long with the mails before this one."
_BROKE = "Sending it broke."
_free = BoundedSemaphore(MOST_AT_ONCE)


def hand_over(message: EmailMessage) -> "Future[str]":
    """Begins to send a mail; what comes of it is why it was not taken, empty where it was."""
    sending: Future[str] = Future()
    sending.set_running_or_notify_cancel()  # whoever gives up waiting does not end it
    try:
        Thread(target=_send, args=(message, sending), name="mail", daemon=True).start()
    except RuntimeError as error:  # the system has no more threads
        sending.set_result(str(error))
    return sending


def _send(message: EmailMessage, sending: "Future[str]") -> None:
    if not _free.acquire(timeout=PATIENCE_SECONDS):
        sending.set_result(TOO_SLOW)
        return
    why = _BROKE
    try:
        message.send()
        why = ""
    except (SMTPException, OSError, ValueError) as error:
        why = f"{type(error).__name__}: {error}"
    finally:
        _free.release()
        sending.set_result(why)
