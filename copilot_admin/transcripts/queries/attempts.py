"""The runs of a turn as attempts: a regenerated answer is one more, a call and its result is one."""

from collections.abc import Sequence

from copilot_admin.transcripts.queries.views import RunView

Attempt = tuple[RunView, ...]


def attempts_of(runs: Sequence[RunView]) -> tuple[Attempt, ...]:
    """Groups the runs of a turn, in the order in which the attempts began.

    A run that brings the result of a call goes on where that call was made. If another run did
    so before, the answer after the call was regenerated, which is an attempt of its own with the
    same beginning. A run without a result starts from the question again.
    """
    attempts: list[Attempt] = []
    for run in runs:
        _add(attempts, run)
    return tuple(attempts)


def _add(attempts: list[Attempt], run: RunView) -> None:
    for place, attempt in reversed(list(enumerate(attempts))):
        calling = _calling_run(attempt, run)
        if calling is None:
            continue
        if calling == len(attempt) - 1:
            attempts[place] = (*attempt, run)
        else:
            attempts.append((*attempt[: calling + 1], run))
        return
    attempts.append((run,))


def _calling_run(attempt: Attempt, run: RunView) -> int | None:
    brought = {message.node_id for message in run.received}
    for place, earlier in reversed(list(enumerate(attempt))):
        if earlier.call and brought & {result.node_id for result in earlier.call.results}:
            return place
    return None
