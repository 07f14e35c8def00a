"""Component that measures returns and risk of series exactly, since models can't."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Annotated, Any, TypeAlias

from pydantic import WithJsonSchema

from copilot_admin.agent.components.base import Component
from copilot_admin.agent.toolkits.returns.options import MEASURES, measure_in_child
from protocol.components import ComponentOutput, ContentType

MAX_SHOWN_ROWS = 5_000  # displayed to the user
# One `type` with several names, since servers interpret `anyOf` differently.
SeriesArgument: TypeAlias = Annotated[
    Sequence[Any] | Mapping[str, Any] | str,
    WithJsonSchema({"type": ["array", "object", "string"], "items": {}}),
]
MeasureArgument: TypeAlias = Annotated[
    str, WithJsonSchema({"type": "string", "enum": list(MEASURES)})
]

_PRICES = [
    {"date": "2024-01-31", "A": 100, "B": 50},
    {"date": "2024-02-29", "A": 104, "B": 51},
    {"date": "2024-03-31", "A": 101, "B": 49},
    {"date": "2024-04-30", "A": 108, "B": 53},
]


class ReturnsToolkit(Component):
    """Measures returns, risk and rates of return of series of prices, returns or payments.

    A call may set options, and a builder may set them for calls without: periods_per_year,
    risk_free_rate, target, confidence, benchmark, window, kind, unit, guess, day_first.
    """

    name = "returns_toolkit"
    version = "v1"
    content_types = (ContentType.JSON, ContentType.TEXT)
    samples = (
        {"series": _PRICES, "measure": "summary"},
        {"series": {"A": [100, 104, 101, 108], "B": [50, 51, 49, 53]}, "measure": "correlation"},
        {"series": {"values": [0.01, -0.02, 0.03], "kind": "returns"}, "measure": "volatility"},
        {"series": "date,close\n2024-01-02,10\n2024-01-03,9", "measure": "max_drawdown"},
        {"series": [-70000, 12000, 15000, 18000, 21000, 26000], "measure": "irr"},
    )

    async def tool_eval(
        self, series: SeriesArgument, measure: MeasureArgument, **kwargs: Any
    ) -> AsyncGenerator[ComponentOutput, None]:
        """Measures returns and risk of series of prices or returns exactly, and rates of payments.

        Args:
            series: All values: [100, 101.5, ...], or rows such as [{"date": "2024-01-31", "AAPL":
                185.2, "MSFT": 404.1}], or {"AAPL": [...], "MSFT": [...]}, or CSV text. Numbers have
                a decimal point. Options go around it: {"values": <series>, "kind": "returns" (the
                values are simple returns such as 0.01; else prices; or "values": any numbers),
                "unit": "percent" (returns such as 1 for 1%), "periods_per_year": 252 (else as the
                dates say), "risk_free_rate": 0.04, "target": 0.04 (of sortino, a year; else the
                risk-free rate), "confidence": 0.95 (of value_at_risk), "benchmark": "SPY" (for beta
                and tracking_error; else the last series), "window": 21 (returns in a rolling
                measure), "guess": 0.1 (of several rates the nearest is taken), "day_first": true
                (03/04/2024 is in April; else month first, unless other dates say it)}.
            measure: summary, returns, log_returns, total_return, annualised_return (geometric),
                cagr (by the calendar), volatility (annualised), standard_deviation (of a sample,
                of one period's returns), sharpe, sortino (downside deviation over all returns),
                calmar (annualised return over max_drawdown), value_at_risk (historical, a loss,
                interpolated), drawdown, max_drawdown (with peak, trough and recovery),
                rolling_return, rolling_volatility, for several series correlation, beta and
                tracking_error (annualised), or of payments (paid below zero, received above) irr
                (at equal intervals) and xirr (by their dates).
            **kwargs: What the system passes; nothing of it is used.
        """
        found = await measure_in_child(series, measure, settings=self.config)
        shown = [dict(row) for row in found.rows[-MAX_SHOWN_ROWS:]]
        notes = list(found.notes)
        if len(shown) < len(found.rows):
            notes.append(
                f"The user sees the last {MAX_SHOWN_ROWS:,} of {len(found.rows):,} points."
            )
        yield self.create_output("json", {"data": shown}, name=found.title, visible_scope="user")
        yield self.create_output("text", "\n".join([*found.lines, *notes]), visible_scope="llm")
