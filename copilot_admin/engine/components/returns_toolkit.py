"""The component that measures returns and risk of series, so that no model has to compute them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, TypeAlias

from pydantic import WithJsonSchema

from copilot_admin.engine.components.base import Component
from copilot_admin.engine.toolkits.returns import Measure, measured
from protocol.components import ComponentOutput, ContentType

SHOWN_ROWS = 5_000  # to the user
# One `type` of several names, since servers differ in how they read `anyOf`.
SeriesArgument: TypeAlias = Annotated[
    Sequence[Any] | Mapping[str, Any] | str,
    WithJsonSchema({"type": ["array", "object", "string"], "items": {}}),
]
MeasureArgument: TypeAlias = Annotated[
    str, WithJsonSchema({"type": "string", "enum": list(map(str, Measure))})
]

_PRICES = [
    {"date": "2024-01-31", "A": 100, "B": 50},
    {"date": "2024-02-29", "A": 104, "B": 51},
    {"date": "2024-03-31", "A": 101, "B": 49},
    {"date": "2024-04-30", "A": 108, "B": 53},
]


class ReturnsToolkit(Component):
    """Measures returns, volatility, drawdown and correlation of series.

    A copilot's builder may set the options of `copilot_admin.engine.toolkits.returns.options` for calls
    that do not say them: periods_per_year, risk_free_rate, benchmark, window, kind.
    """

    name = "returns_toolkit"
    version = "v1"
    content_types = (ContentType.JSON, ContentType.TEXT)
    samples = (
        {"series": _PRICES, "measure": "summary"},
        {"series": {"A": [100, 104, 101, 108], "B": [50, 51, 49, 53]}, "measure": "correlation"},
        {"series": {"values": [0.01, -0.02, 0.03], "kind": "returns"}, "measure": "volatility"},
        {"series": "date,close\n2024-01-02,10\n2024-01-03,9", "measure": "max_drawdown"},
    )

    def tool_eval(
        self, series: SeriesArgument, measure: MeasureArgument, **kwargs: Any
    ) -> Iterator[ComponentOutput]:
        """Measures returns and risk of one or several series of prices or returns exactly.

        Args:
            series: All values: [100, 101.5, ...], or rows such as [{"date": "2024-01-31", "AAPL":
                185.2, "MSFT": 404.1}], or {"AAPL": [...], "MSFT": [...]}, or CSV text. Options go
                around it: {"values": <series>, "kind": "returns" (the values are simple returns
                such as 0.01; else prices), "periods_per_year": 252 (else as the dates say),
                "risk_free_rate": 0.04, "benchmark": "SPY" (for beta; else the last series),
                "window": 21 (returns in a rolling measure)}.
            measure: summary, returns, log_returns, total_return, annualised_return (geometric),
                cagr (by the calendar), volatility (annualised), sharpe, drawdown, max_drawdown
                (with peak, trough and recovery), rolling_return, rolling_volatility, or for several
                series correlation and beta.
            **kwargs: What the system passes; nothing of it is used.

        Yields:
            The table for the user, and the rounded result for the model.

        Raises:
            ValueError: The series cannot be read or measured.

        Examples:
            >>> table, words = ReturnsToolkit().tool_eval([100, 120, 90, 125], "max_drawdown")
            >>> print(words.content[0].text.info)
            series: max drawdown -25.00%, peak point 2, trough point 3, recovery point 4
            >>> table.content[0].visible_scope.value
            'user'
        """
        found = measured(series, measure, settings=self.config)
        shown = [dict(row) for row in found.rows[-SHOWN_ROWS:]]
        notes = list(found.notes)
        if len(shown) < len(found.rows):
            notes.append(f"The user sees the last {SHOWN_ROWS:,} of {len(found.rows):,} points.")
        yield self.create_output("json", {"data": shown}, name=found.title, visible_scope="user")
        yield self.create_output("text", "\n".join([*found.lines, *notes]), visible_scope="llm")
