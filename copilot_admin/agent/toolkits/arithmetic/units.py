"""The units that a calculation knows: currencies, lengths, weights, times, data and energy.

Source: the SI brochure; the international yard and pound agreement of 1959 for feet and pounds;
IEC 80000-13 for KiB and its kin; ISO 4217 for currencies.
"""

from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class Unit:
    """One unit; units of one dimension are converted into each other by their sizes."""

    symbol: str
    dimension: str
    size: Decimal = Decimal(1)

    @property
    def is_currency(self) -> bool:
        return self.dimension == self.symbol


_SIZES = {
    "length": {
        "m": "1", "km": "1000", "cm": "0.01", "mm": "0.001",
        "inch": "0.0254", "ft": "0.3048", "yd": "0.9144", "mi": "1609.344",
    },
    "weight": {
        "g": "1", "kg": "1000", "mg": "0.001", "t": "1000000",
        "lb": "453.59237", "oz": "28.349523125", "ozt": "31.1034768",
    },
    "volume": {"l": "1", "ml": "0.001", "gal": "3.785411784", "bbl": "158.987294928"},
    "time": {"s": "1", "ms": "0.001", "min": "60", "h": "3600", "d": "86400", "week": "604800"},
    "calendar": {"month": "1", "quarter": "3", "year": "12"},  # a month has no length in days
    "data": {
        "B": "1", "kB": "1000", "MB": "1000000", "GB": "1000000000", "TB": "1000000000000",
        "KiB": "1024", "MiB": "1048576", "GiB": "1073741824", "TiB": "1099511627776",
        "bit": "0.125", "kbit": "125", "Mbit": "125000", "Gbit": "125000000",
    },
    "energy": {"Wh": "1", "kWh": "1000", "MWh": "1000000", "GWh": "1000000000"},
    "share": {"share": "1"},
}  # fmt: skip
_OTHER_NAMES = {
    "m": "metre metres meter meters", "km": "kilometre kilometres kilometer kilometers",
    "inch": "inches", "ft": "foot feet", "yd": "yard yards", "mi": "mile miles",
    "g": "gram grams", "kg": "kilogram kilograms", "t": "tonne tonnes", "lb": "lbs pound pounds",
    "oz": "ounce ounces", "l": "litre litres liter liters", "gal": "gallon gallons",
    "bbl": "barrel barrels", "s": "sec second seconds", "min": "minute minutes",
    "h": "hr hour hours", "d": "day days", "week": "weeks", "month": "months",
    "quarter": "quarters", "year": "years yr yrs", "B": "byte bytes", "kB": "KB",
    "bit": "bits", "share": "shares",
}  # fmt: skip
_CURRENCIES = (
    "USD EUR GBP JPY CHF CAD AUD NZD CNY HKD SGD INR KRW TWD THB IDR MYR PHP VND SEK NOK DKK ISK"
    " PLN CZK HUF RON BGN UAH RUB TRY ILS AED SAR QAR KWD EGP ZAR NGN KES BRL MXN ARS CLP COP PEN"
)
CURRENCY_SIGNS = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR"}


def _units() -> dict[str, Unit]:
    units = {code: Unit(code, code) for code in _CURRENCIES.split()}
    for dimension, sizes in _SIZES.items():
        for symbol, size in sizes.items():
            unit = Unit(symbol, dimension, Decimal(size))
            names = (symbol, *_OTHER_NAMES.get(symbol, "").split())
            units |= dict.fromkeys(names, unit)
    return units


UNITS = _units()
SCALES = {
    "k": 3, "K": 3, "thousand": 3,
    "M": 6, "mn": 6, "mln": 6, "MM": 6, "million": 6,
    "b": 9, "bn": 9, "bln": 9, "billion": 9,
    "T": 12, "tn": 12, "trn": 12, "trillion": 12,
}  # fmt: skip
GLUED_SCALES = SCALES | {"m": 6, "B": 9}  # 1.5m is a million and a half, 1.5 m are metres
