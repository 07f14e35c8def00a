"""A check, and all of them: every function marked as one in the modules of `checks`."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from copilot_admin.copilots.checklist import checks
from copilot_admin.copilots.checklist.finding import Finding
from copilot_admin.copilots.checklist.subject import DraftContent, DraftFacts


@dataclass(frozen=True, slots=True)
class Check:
    """A pure function that finds what is wrong in one regard; use it as a decorator."""

    find: Callable[[DraftContent, DraftFacts], Iterator[Finding]]


def findings_in(content: DraftContent, facts: DraftFacts) -> tuple[Finding, ...]:
    """All that the checks find, the gravest first, in the order of the form."""
    found = (one for check in all_checks() for one in check.find(content, facts))
    return tuple(sorted(found, key=lambda one: one.rank))


@cache
def all_checks() -> tuple[Check, ...]:
    """Every check there is, in the order of the modules' names."""
    modules = (
        import_module(f"{checks.__name__}.{module.name}")
        for module in iter_modules(checks.__path__)
    )
    return tuple(
        one for module in modules for one in vars(module).values() if isinstance(one, Check)
    )
