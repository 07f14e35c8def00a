"""Erases one of the users, looks for what is left of him, and whether the others have all of theirs."""

from collections.abc import Iterator, Sequence

from benchmarks.servers import Installation
from benchmarks.users import books, rows, traces
from benchmarks.users.checks import Check, same_users
from benchmarks.users.crowd import Asked
from benchmarks.users.people import Habit, Person

# Where else his words come to be: in an export of everything, and in a file that was spooled.
_PLANT = """
from uuid import UUID
from django.contrib.auth import get_user_model
from copilot_admin.transcripts.exports.conversations import ExportOptions
from copilot_admin.transcripts.exports.keeping import begin
from copilot_admin.transcripts.exports.writing import Writing, WritingStep
from copilot_admin.storage.spool import SPOOL
owner = get_user_model().objects.create_user("reviewer")
export = begin(owner.pk, given={{}}, name="jsonl", options=ExportOptions(with_data=True))
writing = Writing(export.pk, export.claim)
while writing.batch() is WritingStep.MOVED:
    pass
SPOOL.put(UUID({run!r}), {{"text": {word!r}}})
from pathlib import Path
from django.conf import settings
SPOOL.set_aside(Path(settings.DATA_DIR) / "spool" / f"{{UUID({run!r})}}.json")
"""


def victim_of(people: Sequence[Person], asked: Sequence[Asked]) -> Person:
    """A calm user with several chats, one of them under the trace id of somebody else."""
    heard = {one.person for one in asked if one.status == 200}
    calm = (one for one in people if one.habit is Habit.CALM and one in heard)
    return next(one for one in calm if one.number % 3 == 1 and one.number % 2)


def erase(
    installed: Installation,
    victim: Person,
    asked: Sequence[Asked],
    *,
    redis_url: str,
) -> Iterator[Check]:
    """Erases him, with the server running."""
    his = next(one.run for one in asked if one.person == victim and one.run)
    installed.run(
        "-c", f"import django; django.setup()\n{_PLANT.format(run=his, word=victim.canary)}"
    )
    words = (victim.id, victim.canary, victim.token.rpartition(".")[2])
    places = _places(installed, words)
    yield Check(what="places that have his words before", wanted=0, found=len(places), is_told=True)
    before, exported = rows.prints(installed), rows.transcripts(installed)
    figures = books.of_rollups(installed, "dailyusage")
    _erase(installed, victim)
    left = _places(installed, words)
    print(
        *(f"his words were in {one}{', and are' if one in left else ''}" for one in places),
        sep="\n",
    )
    yield Check(what="places that have his words after he was erased", wanted=0, found=len(left))
    after, told = rows.prints(installed), rows.transcripts(installed)
    others_before = {user: one for user, one in before.items() if user != victim.id}
    unchanged = sum(after.get(user) == one for user, one in others_before.items())
    yield Check(what="others whose rows are the same", wanted=len(others_before), found=unchanged)
    yield Check(what="users who have rows", wanted=len(before) - 1, found=len(after))
    mine = {talk for talk, (user, _) in exported.items() if user == victim.id}
    yield Check(what="his transcripts", wanted=0, found=len(mine & told.keys()))
    same = sum(told.get(talk) == one for talk, one in exported.items() if talk not in mine)
    yield Check(
        what="transcripts of others that are the same", wanted=len(exported) - len(mine), found=same
    )
    yield same_users(
        "figures that are the same",
        figures.outcomes,
        books.of_rollups(installed, "dailyusage").outcomes,
    )
    if redis_url:
        kept = traces.kept_in_redis(redis_url, words)
        print(*(f"Redis still has {one}" for one in kept), sep="\n")
        yield Check(what="counters in Redis that name him", wanted=0, found=len(kept), is_told=True)


def _erase(installed: Installation, victim: Person) -> None:
    """Erases him as an operator does."""
    installed.manage("privacy", "erase", "--user", victim.id, "--yes", "--reason", "Ticket 5")
    installed.manage("privacy", "clear-files", "--yes")


def _places(installed: Installation, words: Sequence[str]) -> list[str]:
    found = [f"the file {name}" for name in traces.files_with(installed, words)]
    if installed.database_url:
        tables = traces.tables_with(installed.database_url, words)
        pages = traces.pages_with(installed.database_url, words)
        found += [f"the rows of {one}" for one in tables] + [f"the pages of {one}" for one in pages]
    return found
