"""Reads, merges and renders widget rows as Data messages, beside what plain `json` takes.

Prints the CPU time for 5 MB of rows in ten pieces, the ratio to `json.dumps(indent=2)` of the same
rows, and the growth from half of them: 2.0 is a straight line. No other program need run.
"""

from collections.abc import Callable, Sequence
import json
import time

from protocol.data import DataMessage, merged, render
from protocol.json import Json

ROWS = 34_500  # 5 MB as JSON
PIECES = 10
FLOOR_MS = 150.0


def main() -> int:
    """Measures and prints; returns the status of the process."""
    whole, half = pieces_of(ROWS), pieces_of(ROWS // 2)
    size = sum(map(len, whole)) / 1e6
    ours, smaller = _best(lambda: data_text(whole)), _best(lambda: data_text(half))
    rows = [json.loads(piece) for piece in whole]
    plain = _best(lambda: json.dumps(rows, indent=2))
    print(f"{size:.1f} MB of rows read, merged and rendered: {ours:.0f} ms of CPU")
    print(f"json.dumps(indent=2) of the same rows: {plain:.0f} ms; ratio {ours / plain:.2f}")
    print(f"half of the rows: {smaller:.0f} ms; growth {ours / smaller:.2f}")
    print(f"at most {FLOOR_MS:.0f} ms: {'kept' if ours <= FLOOR_MS else 'not kept'}")
    return int(ours > FLOOR_MS)


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
    """The one block that a model sees of all pieces."""
    messages = []
    for number, piece in enumerate(pieces):
        rows: Json = json.loads(piece)
        messages.append(DataMessage(kind="widget_data", data={f"page {number}": rows}))
    [message] = merged(messages)
    return render(message)


def _best(work: Callable[[], object]) -> float:
    """Milliseconds of CPU of the quickest of five; the others were disturbed."""
    times = []
    for _ in range(5):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times) * 1000


if __name__ == "__main__":
    raise SystemExit(main())
