"""Measures of series, the options of a call, and its run in a child process."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
import json
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from copilot_admin.agent.toolkits.tables import Row, number_of
from copilot_admin.agent.worker_processes import (
    FailureReason,
    Limits,
    TaskFailed,
    WorkerPool,
    WorkersBusy,
)
from protocol.json import Json, JsonObject

MEASURES = (
    *("summary", "returns", "log_returns", "total_return", "annualised_return", "cagr"),
    *("volatility", "sharpe", "drawdown", "max_drawdown", "standard_deviation", "sortino"),
    *("calmar", "value_at_risk", "rolling_return", "rolling_volatility", "correlation", "beta"),
    *("tracking_error", "irr", "xirr"),
)
OF_PAYMENTS = ("irr", "xirr")
_VALUES = "values"


@dataclass(frozen=True, slots=True)
class MeasuredSeries:
    title: str
    rows: tuple[Row, ...]  # for people: numbers with twelve digits, unrounded fractions
    lines: tuple[str, ...]  # for a model: rounded, fractions in percent
    notes: tuple[str, ...]  # assumptions and warnings


Number: TypeAlias = Annotated[
    float, BeforeValidator(lambda value: number_of(value) if isinstance(value, str) else value)
]
Rate: TypeAlias = Annotated[Number, Field(gt=-1, lt=1)]


class Options(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)

    # Prices (or index levels), simple returns of each period such as 0.01, or any numbers, for
    # which only the standard deviation is meaningful.
    kind: Literal["prices", "returns", "values"] = "prices"
    unit: Literal["fraction", "percent"] = "fraction"  # of returns: 0.01, or 1 for one percent
    periods_per_year: Annotated[Number, Field(gt=0, le=1_000_000)] | None = None  # as dates say
    risk_free_rate: Rate = 0.0  # a year's, such as 0.04
    target: Rate | None = None  # a year's, of the Sortino ratio; None for the risk-free rate
    confidence: Annotated[Number, Field(ge=0.5, lt=1)] = 0.95  # of value at risk
    benchmark: Annotated[str, BeforeValidator(str)] = ""  # a series; the last one if empty
    window: int = Field(21, ge=2, le=1_000)  # returns in a rolling measure; 21 days are a month
    # Of several internal rates of return, the nearest to this is listed first.
    guess: Annotated[Number, Field(gt=-1, le=10)] = 0.1
    day_first: bool | None = None  # 03/04/2024 is a day in April; None: as other dates say

    @model_validator(mode="after")
    def _check_unit(self) -> Self:
        if self.unit == "percent" and self.kind != "returns":
            raise ValueError('the unit is that of returns: say "kind": "returns" as well')
        return self


def split_options(series: object, settings: Mapping[str, Any]) -> tuple[object, Options]:
    """Separate values from options.

    An object with `values` whose other keys are options is a series with options; any other
    object is a series. It may override `settings`, of which unknown ones are ignored.

    Examples:
        >>> values, options = split_options({"values": [1, 2], "window": 5}, {})
        >>> values, options.window, options.kind
        ([1, 2], 5, 'prices')
    """
    given = dict(settings)
    if isinstance(series, Mapping) and _has_options(series):
        given |= {name: value for name, value in series.items() if name != _VALUES}
        series = series[_VALUES]
    try:
        options = Options.model_validate(
            {name: value for name, value in given.items() if value is not None}
        )
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        sentence = ": ".join([*map(str, first["loc"][:1]), first["msg"]])
        raise ValueError(f"{sentence}. Rates are fractions: 0.04 is 4%.") from None
    return series, options


def _has_options(series: Mapping[Any, Any]) -> bool:
    return isinstance(series.get(_VALUES), list | tuple | Mapping | str) and all(
        name == _VALUES or (name in Options.model_fields and not isinstance(value, list | Mapping))
        for name, value in series.items()
    )


# --- child process: the server needn't load pandas (60 MB)


def perform(order: JsonObject, body: bytes) -> Iterator[Json]:
    from copilot_admin.agent.toolkits.returns.measures import measure_series

    try:
        yield asdict(measure_series(**json.loads(body)))
    except ValueError as error:
        yield {"error": str(error)}


POOL = WorkerPool(perform, limits=Limits(memory=1024**3, cpu_seconds=15))


async def measure_in_child(
    series: object, name: str, *, settings: Mapping[str, Any]
) -> MeasuredSeries:
    """Measure series of values; see `returns.measures.measure_series`.

    Raises:
        ValueError: The series can't be read or measured; the text describes valid input.
    """
    result: dict[str, Any] = {}
    try:
        body = json.dumps({"series": series, "measure": name, "settings": dict(settings)})
    except (TypeError, RecursionError) as error:
        raise ValueError("There is no series that can be read. Give plain JSON values.") from error
    try:
        await POOL.run({}, body, on_reply=result.update)  # type: ignore[arg-type]  # an object, as above
    except WorkersBusy:
        raise ValueError(
            "The server calculates as much as it can. Ask again in a minute."
        ) from None
    except TaskFailed as error:
        is_limit = error.reason in (FailureReason.TIME, FailureReason.MEMORY)
        advice = "Send fewer values." if is_limit else "Ask again."
        raise ValueError(f"The calculation wasn't finished. {advice}") from error
    if "error" in result:
        raise ValueError(result["error"])
    return MeasuredSeries(**result)
