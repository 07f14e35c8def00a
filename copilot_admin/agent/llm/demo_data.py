"""Sample data of the demo model: invented, small, and consistent with its answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Row = Mapping[str, str | int | float]


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleWidget:
    """A widget that a demo answer reads and cites."""

    name: str
    description: str
    rows: Sequence[Row]


def _rows(columns: str, *values: tuple[str | float, ...]) -> tuple[Row, ...]:
    return tuple(dict(zip(columns.split("|"), row, strict=True)) for row in values)


OVERNIGHT = SampleWidget(
    name="Overnight moves",
    description="Markets since the last close",
    rows=_rows(
        "market|level|change %",
        ("S&P 500 futures", 6842.25, 0.4),
        ("Nikkei 225", 51234, 1.1),
        ("Euro Stoxx 50", 5611, -0.2),
        ("10-year Treasury, yield", 4.15, -0.7),
        ("Brent, USD", 63.4, -1.8),
        ("Gold, USD", 4088, 0.6),
    ),
)
HOLDINGS = SampleWidget(
    name="Holdings",
    description="The ten largest positions of the sample portfolio",
    rows=_rows(
        "position|sector|weight %|month %|contribution bp",
        ("Northwind Semiconductors", "Technology", 7.2, 8.5, 61),
        ("Alder Health", "Health care", 5.8, 3.1, 18),
        ("Meridian Bank", "Financials", 5.1, -2.4, -12),
        ("Kestrel Software", "Technology", 4.9, 5.2, 25),
        ("Solway Energy", "Energy", 4.4, -6.1, -27),
        ("Harbour Foods", "Consumer staples", 4.0, 1.0, 4),
        ("Lumen Networks", "Communication", 3.7, 2.2, 8),
        ("Orchard Insurance", "Financials", 3.5, 4.0, 14),
        ("Tern Logistics", "Industrials", 3.2, -5.7, -18),
        ("Granite Utilities", "Utilities", 2.9, 0.7, 2),
    ),
)
PRICES = SampleWidget(
    name="Price history",
    description="Daily closing prices of Northwind Semiconductors, in USD",
    rows=_rows(
        "date|close",
        ("2 Nov", 182.4),
        ("3 Nov", 184.1),
        ("4 Nov", 183.2),
        ("5 Nov", 186.9),
        ("6 Nov", 188.3),
        ("9 Nov", 187.5),
        ("10 Nov", 190.2),
        ("11 Nov", 192.8),
        ("12 Nov", 191.1),
        ("13 Nov", 194.6),
        ("16 Nov", 196.0),
        ("17 Nov", 195.2),
        ("18 Nov", 197.9),
    ),
)
EARNINGS = SampleWidget(
    name="Earnings call",
    description="Northwind Semiconductors, third quarter: reported and expected",
    rows=_rows(
        "measure|reported|consensus|surprise %",
        ("Revenue, USD m", 4120, 3985, 3.4),
        ("Gross margin, %", 58.4, 57.9, 0.9),
        ("Operating income, USD m", 1310, 1225, 6.9),
        ("EPS, USD", 2.31, 2.15, 7.4),
        ("Q4 revenue guidance, USD m", 4300, 4240, 1.4),
    ),
)
CREDIT = SampleWidget(
    name="Credit ratios",
    description="Tern Logistics, by fiscal year",
    rows=_rows(
        "year|net debt / EBITDA|EBITDA / interest|free cash flow, EUR m",
        ("2022", 2.4, 7.9, 118),
        ("2023", 2.9, 6.4, 84),
        ("2024", 3.3, 5.2, 51),
        ("2025", 3.1, 5.6, 73),
    ),
)
CURVE = SampleWidget(
    name="Yield curve",
    description="US Treasury yields in percent",
    rows=_rows(
        "maturity|now|a week ago",
        ("3M", 3.84, 3.84),
        ("2Y", 3.61, 3.52),
        ("5Y", 3.78, 3.66),
        ("10Y", 4.15, 4.02),
        ("30Y", 4.72, 4.63),
    ),
)
RISK = SampleWidget(
    name="Risk report",
    description="Share of the sample portfolio's risk by factor",
    rows=_rows(
        "factor|share of risk %|limit %",
        ("Equity market", 46, 60),
        ("Interest rates", 21, 30),
        ("Credit spreads", 14, 20),
        ("Currencies", 12, 12),
        ("Specific", 7, 15),
    ),
)
FUND = SampleWidget(
    name="Fund fact sheet",
    description="Sample Global Balanced Fund, share class A",
    rows=_rows(
        "item|fund|benchmark",
        ("1 year, %", 9.4, 8.8),
        ("3 years p.a., %", 6.1, 6.3),
        ("Volatility 3 years, %", 8.2, 8.9),
        ("Ongoing charges, %", 0.95, 0),
    ),
)
ESG = SampleWidget(
    name="ESG screen",
    description="Positions against the sample exclusion list",
    rows=_rows(
        "position|carbon intensity, t per USD m|controversies|passes",
        ("Solway Energy", 412, 2, "no"),
        ("Granite Utilities", 268, 0, "watch"),
        ("Tern Logistics", 97, 1, "yes"),
        ("Northwind Semiconductors", 31, 0, "yes"),
    ),
)
