"""What the tests of saved questions share: a copilot that reads a widget, a scripted model."""

from typing import Any

import pytest

from tests.agent.scripted import ScriptedProvider

PRICES: dict[str, Any] = {"id": "prices", "name": "Prices", "rows": [{"day": "Mo", "close": 106}]}
MAKE_PROVIDER = "copilot_admin.copilots.live.make_provider"


def script(monkeypatch: pytest.MonkeyPatch, *steps: Any) -> ScriptedProvider:
    """The provider of every copilot from now on."""
    provider = ScriptedProvider(steps)
    monkeypatch.setattr(MAKE_PROVIDER, lambda spec: provider)
    return provider
