"""What was asked, as each of those says who count it: figures, rollups, log lines, rows and the clients."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
import json
import re
from typing import Any
from urllib.request import Request, urlopen

from benchmarks.processes import Process
from benchmarks.servers import Installation
from benchmarks.users.crowd import Asked

METRICS_TOKEN = "benchmarks keep no secrets"  # noqa: S105  # nothing listens but this machine
_SAMPLE = re.compile(r"^(copilot_\w+)\{([^}]*)\} ([\d.e+]+)$", re.MULTILINE)
_LABEL = re.compile(r'(\w+)="([^"]*)"')
_OUTCOMES = ("completed", "truncated", "failed", "crashed", "cancelled", "interrupted", "refused")
_STATUSES = {200: "let in", 429: "refused"}


@dataclass(frozen=True, slots=True)
class Books:
    """Counts of one who counts.

    Attributes:
        outcomes: By copilot and outcome.
        tokens: By copilot.
    """

    name: str
    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)
    tokens: Counter[str] = field(default_factory=Counter)

    @property
    def let_in(self) -> Counter[tuple[str, str]]:
        """What a client can tell apart."""
        found: Counter[tuple[str, str]] = Counter()
        for (copilot, outcome), number in self.outcomes.items():
            found[copilot, "refused" if outcome == "refused" else "let in"] += number
        return found


def of_clients(asked: Iterable[Asked]) -> Counter[tuple[str, str]]:
    """What the clients were told, by copilot."""
    return Counter((one.copilot, _STATUSES.get(one.status, str(one.status))) for one in asked)


def metrics_of(process: Process) -> str:
    """The page of figures."""
    request = Request(  # an address of ours
        f"http://127.0.0.1:{process.port}/metrics",
        headers={"Authorization": f"Bearer {METRICS_TOKEN}"},
    )
    with urlopen(request, timeout=30) as answer:  # noqa: S310
        text: str = answer.read().decode()
        return text


def of_metrics(text: str) -> Books:
    """What `/metrics` counts."""
    books = Books("/metrics")
    for name, labels, value in _SAMPLE.findall(text):
        named = dict(_LABEL.findall(labels))
        if name == "copilot_runs_total":
            books.outcomes[named["copilot"], named["outcome"]] += int(float(value))
        if name == "copilot_tokens_total":
            books.tokens[named["copilot"]] += int(float(value))
    return books


def of_rollups(installed: Installation, table: str) -> Books:
    """What a table of rollups counts."""
    books = Books(table)
    sums = ", ".join(f"SUM({name})" for name in (*_OUTCOMES, "tokens"))
    rows = installed.query(
        f"SELECT slug, {sums} FROM copilot_admin_{table} usage "  # noqa: S608  # names of ours
        "JOIN copilot_admin_copilot copilot ON copilot.id = copilot_id GROUP BY slug"
    )
    for slug, *numbers, tokens in rows:
        for outcome, number in zip(_OUTCOMES, numbers, strict=True):
            books.outcomes[str(slug), outcome] += _whole(number)
        books.tokens[str(slug)] += _whole(tokens)
    return _without_zeros(books)


def of_rows(installed: Installation) -> Books:
    """What the runs say."""
    books = Books("rows")
    rows = installed.query(
        "SELECT slug, outcome, SUM(times), SUM(input_tokens + output_tokens) "
        "FROM copilot_admin_run run JOIN copilot_admin_copilot copilot "
        "ON copilot.id = copilot_id GROUP BY slug, outcome"
    )
    for slug, outcome, number, tokens in rows:
        books.outcomes[str(slug), str(outcome)] += _whole(number)
        books.tokens[str(slug)] += _whole(tokens)
    return _without_zeros(books)


def lines_in(log: str) -> list[Mapping[str, Any]]:
    """The lines of runs in a log of JSON lines."""
    lines = (json.loads(line) for line in log.splitlines() if line.startswith("{"))
    return [line for line in lines if line.get("logger") == "copilot_admin.runs"]


def of_lines(lines: Iterable[Mapping[str, Any]]) -> Books:
    """What the lines of runs say."""
    books = Books("log lines")
    for line in lines:
        copilot = line.get("copilot", "")  # of what was refused before it was looked up
        books.outcomes[copilot, line["outcome"]] += 1
        books.tokens[copilot] += line.get("input_tokens", 0) + line.get("output_tokens", 0)
    return _without_zeros(books)


def users_of_lines(lines: Iterable[Mapping[str, Any]]) -> Counter[tuple[str, str]]:
    """Lines by the hash of the user and whether he was let in."""
    return Counter(
        (str(line.get("user")), "refused" if line["outcome"] == "refused" else "let in")
        for line in lines
    )


def users_of_rows(installed: Installation) -> Counter[tuple[str, str]]:
    """Runs in the same way."""
    rows = installed.query(
        "SELECT digest, outcome, SUM(times) FROM copilot_admin_run run "
        "LEFT JOIN copilot_admin_enduser asking ON asking.id = user_id GROUP BY digest, outcome"
    )
    found: Counter[tuple[str, str]] = Counter()
    for digest, outcome, number in rows:
        found[str(digest), "refused" if outcome == "refused" else "let in"] += _whole(number)
    return found


def _without_zeros(books: Books) -> Books:
    return Books(books.name, +books.outcomes, +books.tokens)


def _whole(number: object) -> int:
    return int(str(number or 0))
