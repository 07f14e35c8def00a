"""What it costs to know who asks: a short question with a token, beside one of nobody, in turns.

Two of our servers run at the same time and take their turns with the same people, so what else the
machine does falls on both alike. Tokens are signed with RS256, each person has one of his own.
"""

from argparse import ArgumentParser
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from statistics import median
import sys
import tempfile

import uvloop

from benchmarks import servers
from benchmarks.processes import away_from_the_server, running
from benchmarks.servers import Installation, Target, installation
from benchmarks.short import MANY, Chats, cost_of_a_question
from benchmarks.tokens import new_key, token, variables

MOST_ADDED_MS = 0.5


def compare(*, rounds: int, chats: Chats = MANY) -> list[tuple[float, float]]:
    """Milliseconds of CPU for a short question, of nobody and with a token, round by round."""
    costs = []
    key = new_key()
    tokens = tuple(
        token(key, f"user-{one}", email=f"user-{one}@example.com", name="A User")
        for one in range(chats.people)
    )
    crowds = (chats, replace(chats, tokens=tokens))
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        model = stack.enter_context(servers.upstream())
        targets = []
        for environment in ({}, variables(key, folder)):
            installed = stack.enter_context(installation(model, variables=environment))
            process = stack.enter_context(running(installed.start()))
            targets.append(Target(process, Installation.path))
        both = list(zip(targets, crowds, strict=True))
        for target, crowd in both:
            uvloop.run(cost_of_a_question(target, replace(crowd, chats=1)))
        for number in range(rounds):
            turns = both if number % 2 else both[::-1]
            cost = {
                target: uvloop.run(cost_of_a_question(target, crowd)) for target, crowd in turns
            }
            costs.append((cost[targets[0]], cost[targets[1]]))
            print(f"round {number + 1}: {costs[-1][0]:.2f} ms, with a token {costs[-1][1]:.2f} ms")
    return costs


def main(arguments: Sequence[str]) -> int:
    """Prints the comparison; returns the status of the process."""
    parser = ArgumentParser(prog="python -m benchmarks.asking_users", description=__doc__)
    parser.add_argument("--rounds", type=int, default=6)
    options = parser.parse_args(arguments)
    with away_from_the_server():
        costs = compare(rounds=options.rounds)
    plain, added = median(one for one, _ in costs), median(two - one for one, two in costs)
    kept = added <= MOST_ADDED_MS
    print(
        f"a short question costs {plain:.2f} ms, a token adds {added:.2f} ms, at most "
        f"{MOST_ADDED_MS} ms: {'kept' if kept else 'not kept'}"
    )
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
