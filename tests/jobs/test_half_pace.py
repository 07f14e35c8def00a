"""Commands that work in batches leave a server beside them as much time as they take."""

from itertools import count
from types import SimpleNamespace

from django.core.management import call_command
import pytest

from copilot_admin.jobs import costs, half_pace
from copilot_admin.jobs.costs import filled_costs
from copilot_admin.jobs.half_pace import at_half_pace
from copilot_admin.management.commands import privacy, sweep
from tests.transcripts.store.journaling import Client


@pytest.fixture
def rests(monkeypatch):
    """The seconds for which a command rested, where all that it does takes one."""
    slept: list[int] = []
    clock = SimpleNamespace(monotonic=count().__next__, sleep=slept.append)
    monkeypatch.setattr(half_pace, "time", clock)
    return slept


@pytest.fixture
def batches(monkeypatch):
    """The batches that commands did, in order."""
    done: list[str] = []

    def counted(room: object, name: str) -> None:
        batch = getattr(room, name)

        def count_and_do(*args: object, **options: object) -> object:
            done.append(name)
            return batch(*args, **options)

        monkeypatch.setattr(room, name, count_and_do)

    counted(privacy, "_batch")
    counted(privacy, "_merged")
    counted(sweep, "_next")
    counted(costs, "_filled_together")
    return done


def test_a_rest_is_as_long_as_the_batch(rests):
    assert (at_half_pace(lambda: "done"), rests) == ("done", [1])


@pytest.mark.django_db
def test_every_batch_of_a_command_is_followed_by_a_rest(rests, batches, monkeypatch):
    monkeypatch.setattr(privacy, "vacuum", lambda: None)
    monkeypatch.setattr(privacy, "empty_log", lambda: True)
    Client(trace_id="a").ask("q").answer("a")
    assert list(filled_costs())
    call_command("privacy", "erase", "--caller", "anonymous", "--yes")
    call_command("sweep")
    assert set(batches) == {"_filled_together", "_batch", "_merged", "_next"}
    assert rests == [1] * len(batches)
