"""What the checks look at: the content of a draft, and what is known about its surroundings."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from copilot_admin.agent.values.spec import CopilotSpec
from copilot_admin.copilots.publish_gate import TestFacts
from copilot_admin.models import Access


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftContent:
    """The document of a draft, read once; the spec does not hold what no answer depends on."""

    spec: CopilotSpec
    image: str = ""
    starters: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftFacts:
    """What is known about a draft without asking anybody else.

    Attributes:
        enabled: It answers at all once it is published.
        access: Who may ask it.
        keys: How many valid endpoint keys open it.
        models: What providers listed when they were last asked, under their names; those that
            nobody asked lately are absent.
        unasked: Names of its providers that are absent from `models`: nobody asked them lately.
        missing_providers: Names in its controls that no provider has.
        has_image: This server has the file of its image.
        tests: Results of its tests, if a pass rate is required.
    """

    enabled: bool = True
    access: Access = Access.OPEN
    keys: int = 0
    models: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unasked: tuple[str, ...] = ()
    missing_providers: frozenset[str] = frozenset()
    has_image: bool = True
    tests: TestFacts | None = None
