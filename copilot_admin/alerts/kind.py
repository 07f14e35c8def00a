"""A kind of rule, and all of them: every one that a module of `kinds` defines."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from django.utils.functional import Promise
from django.utils.translation import gettext as _

from copilot_admin.alerts import kinds
from copilot_admin.alerts.scope import AlertScope
from copilot_admin.alerts.windows import AlertWindow, span_of
from copilot_admin.transcripts.search.periods import Span


class FigureUnit(StrEnum):
    """In what a figure is counted, and so how it is written."""

    NUMBER = "number"
    PER_CENT = "per cent"
    DOLLARS = "dollars"


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """What is to be measured.

    Attributes:
        with_words: What people and providers wrote is wanted too.
    """

    scope: AlertScope
    window: AlertWindow
    at: datetime
    with_words: bool = False

    @property
    def span(self) -> Span:
        """The hours in which the figure is measured."""
        return span_of(self.window, self.at)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredFigure:
    """What a rule found: its figure, and the words that tell of it.

    Attributes:
        value: The figure; None: there is nothing to measure.
        basis: How much it stands on, in what `RuleKind.minimum_label` says.
        sentence: The figure in words.
        query: Filters of the list that shows what was counted.
        words: What people and providers wrote: untrusted.
    """

    value: Decimal | None
    sentence: str
    basis: int = 0
    query: Mapping[str, str] = field(default_factory=dict)
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleKind:
    """What a rule can watch.

    Attributes:
        name: As rules keep it.
        measure: Reads the figure, from rollups; what it reads of the journal is bounded.
        windows: From which a rule chooses; the first is proposed.
        threshold: What is proposed.
        minimum: Of the basis, below which nothing is said; proposed, too.
        minimum_label: What the basis counts; empty: there is none.
        is_low_bad: It is bad to be at the threshold or below, not above.
        has_words: People or providers say something that a rule may tell.
    """

    name: str
    label: str | Promise
    help: str | Promise
    unit: FigureUnit
    measure: Callable[[Watched], MeasuredFigure]
    windows: tuple[AlertWindow, ...]
    threshold: Decimal
    minimum: int = 0
    minimum_label: str | Promise = ""
    is_low_bad: bool = False
    has_words: bool = False

    def is_bad(self, value: Decimal, threshold: Decimal) -> bool:
        """Whether a figure is what people want to be told of."""
        return value <= threshold if self.is_low_bad else value >= threshold


def shown(unit: FigureUnit, value: Decimal) -> str:
    """A figure as people read it, with its unit."""
    plain = f"{value:,.2f}".removesuffix(".00")
    match unit:
        case FigureUnit.PER_CENT:
            return _("%(share)s %%") % {"share": plain}
        case FigureUnit.DOLLARS:
            return f"${value:,.2f}"
    return plain


@cache
def all_kinds() -> Mapping[str, RuleKind]:
    """Every kind by its name, in the order of the modules' names."""
    modules = [
        import_module(f"{kinds.__name__}.{one.name}") for one in iter_modules(kinds.__path__)
    ]
    found = [one for module in modules for one in vars(module).values()]
    return {one.name: one for one in found if isinstance(one, RuleKind)}
