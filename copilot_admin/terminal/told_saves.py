"""Accounts that a command of Django's saves, each told in the transaction of its save."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models.signals import post_save, pre_save

from copilot_admin.audit.changes import snapshot
from copilot_admin.audit.parties import Actor, Subject
from copilot_admin.audit.recording import record
from copilot_admin.models import Action


@contextmanager
def told_saves(action: Action) -> Iterator[None]:
    """Has each save of an account within the block told as an action.

    The transaction begins with the save and not with the block, in which a person types: nobody else
    could write meanwhile.
    """
    with ExitStack() as transaction_of_save:

        def begin(**_: Any) -> None:
            transaction_of_save.enter_context(transaction.atomic())

        def end(instance: User, *, created: bool, **_: Any) -> None:
            after = snapshot(instance) if created else {"by": "command"}
            record(action, by=Actor.command(), on=Subject.of(instance), after=after)
            transaction_of_save.close()

        pre_save.connect(begin, sender=User)
        post_save.connect(end, sender=User)
        try:
            yield
        finally:
            pre_save.disconnect(begin, sender=User)
            post_save.disconnect(end, sender=User)
