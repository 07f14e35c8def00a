"""A draft about which there is nothing to say; keyword arguments change what a test is about."""

from typing import Any

from copilot_admin.agent.values.spec import CopilotSpec, ProviderSpec, WidgetDataMode
from copilot_admin.copilots.checklist.check import findings_in
from copilot_admin.copilots.checklist.finding import Finding
from copilot_admin.copilots.checklist.subject import DraftContent, DraftFacts

NOTHING_SPECIAL = DraftFacts()
OURS = ProviderSpec(name="Ours", kind="openai", base_url="http://llm:8000/v1")


def found(
    *,
    facts: DraftFacts = NOTHING_SPECIAL,
    image: str = "",
    starters: tuple[str, ...] = (),
    **changes: Any,
) -> list[tuple[str, str, str]]:
    """Severity, input and sentence of all that the checks find in a draft."""
    return [(one.severity.value, one.input, one.sentence) for one in findings(
        facts=facts, image=image, starters=starters, **changes)]  # fmt: skip


def findings(
    *,
    facts: DraftFacts = NOTHING_SPECIAL,
    image: str = "",
    starters: tuple[str, ...] = (),
    **changes: Any,
) -> tuple[Finding, ...]:
    """All that the checks find in a draft."""
    spec: dict[str, Any] = {
        "slug": "news",
        "name": "News",
        "provider": OURS,
        "model": "small-1",
        "description": "Reads the news.",
        "system_prompt": "You are {{ copilot.name }}.",
        "widget_data": WidgetDataMode.OFF,
    }
    content = DraftContent(spec=CopilotSpec(**{**spec, **changes}), image=image, starters=starters)
    return findings_in(content, facts)
