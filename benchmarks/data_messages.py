"""Reads, merges and renders widget rows as Data messages, beside what plain `json` takes.

Prints the CPU time for rows of 1.25 to 20 MB in ten pieces: of their whole text, and of as much of
it as a copilot's model is shown. 5 MB may take 150 ms, and twice the rows at most 2.1 times as
long: a straight line. No other program need run.
"""

from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
import json
import sys
import time

from copilot_admin.agent.prompt.conversation import MAX_DATA_CHARACTERS
from copilot_admin.agent.prompt.data_messages import data_blocks
from copilot_admin.agent.values.spec import CopilotSpec, DataMessagePolicy, ProviderSpec
from protocol.data import DataMessage, merged, render
from protocol.json import Json
from protocol.messages import DataItem, HumanMessage, SourceData
from protocol.query import ContextItem, Query

ROWS = 34_500  # 5 MB as JSON
PIECES = 10
MOST_MS = 150.0
MOST_GROWTH = 2.1
COPILOT = CopilotSpec(
    slug="rows",
    name="Rows",
    provider=ProviderSpec(name="none", kind="rehearsal"),
    model="none",
    data_messages=DataMessagePolicy(context=True),
)


@dataclass(frozen=True, slots=True)
class Point:
    """What some rows took."""

    megabytes: float
    ms: float

    @property
    def pace(self) -> float:
        """Milliseconds for a megabyte."""
        return self.ms / self.megabytes


def main(arguments: Sequence[str]) -> int:
    """Measures and prints; returns the status of the process."""
    ArgumentParser(prog="python -m benchmarks.data_messages", description=__doc__).parse_args(
        arguments
    )
    sizes = [pieces_of(ROWS * quarters // 4) for quarters in (1, 2, 4, 8, 16)]
    lines = [
        _line("the whole text", sizes, data_text),
        _line("what a model is shown of it", sizes, shown_text),
    ]
    rows = [json.loads(piece) for piece in sizes[2]]
    plain = _best(lambda: json.dumps(rows, indent=2))
    print(f"json.dumps(indent=2) of 5 MB: {plain:.0f} ms")
    return int(not all(kept for points in lines for _, kept in floors(points)))


def pieces_of(rows: int) -> Sequence[str]:
    """Rows as a widget returns them, in pieces of JSON text."""
    table = [
        {
            "date": f"2024-01-{number % 28 + 1:02}",
            "symbol": "AAPL",
            "open": number * 1.37,
            "close": number * 1.41,
            "volume": number * 1000,
            "note": "as reported by the exchange",
        }
        for number in range(rows)
    ]
    step = -(-rows // PIECES)
    return [json.dumps(table[start : start + step]) for start in range(0, rows, step)]


def data_text(pieces: Sequence[str]) -> str:
    """The one block that holds all rows of all pieces."""
    messages = []
    for number, piece in enumerate(pieces):
        rows: Json = json.loads(piece)
        messages.append(DataMessage(kind="widget_data", data={f"page {number}": rows}))
    [message] = merged(messages)
    return render(message)


def shown_text(pieces: Sequence[str]) -> str:
    """What a copilot makes of the pieces: a block for each, cut to what a question may bring."""
    items = tuple(
        ContextItem(uuid=f"page {number}", data=SourceData((DataItem(content=piece),)))
        for number, piece in enumerate(pieces)
    )
    query = Query(messages=(HumanMessage("What moved?"),), context=items)
    return "\n".join(data_blocks(COPILOT, query, limit=MAX_DATA_CHARACTERS).derived)


def growth(points: Sequence[Point]) -> float:
    """How much longer twice the rows take, over the whole line; 2.0 is a straight one.

    Later rows hold longer numbers: twice the rows are a little more than twice the megabytes.
    """
    return float(2 * (points[-1].pace / points[0].pace) ** (1 / (len(points) - 1)))


def floors(points: Sequence[Point]) -> Sequence[tuple[str, bool]]:
    """What is promised, and whether these points keep it."""
    ms, grown = points[len(points) // 2].ms, growth(points)
    return (
        (f"5 MB: {ms:.0f} ms, at most {MOST_MS:.0f}", ms <= MOST_MS),
        (f"twice as much: {grown:.2f} times as long, at most {MOST_GROWTH}", grown <= MOST_GROWTH),
    )


def _line(
    name: str, sizes: Sequence[Sequence[str]], work: Callable[[Sequence[str]], str]
) -> Sequence[Point]:
    print(f"{name}:\n{'MB':>6} {'ms':>6} {'ms/MB':>6}")
    points = []
    for pieces in sizes:
        megabytes = sum(map(len, pieces)) / 1e6
        point = Point(megabytes, _best(partial(work, pieces)))
        points.append(point)
        print(f"{point.megabytes:6.2f} {point.ms:6.0f} {point.pace:6.1f}")
    for words, kept in floors(points):
        print(f"{words}: {'kept' if kept else 'not kept'}")
    return points


def _best(work: Callable[[], object]) -> float:
    """Milliseconds of CPU of the quickest of seven; the others were disturbed."""
    times = []
    for _ in range(7):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times) * 1000


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
