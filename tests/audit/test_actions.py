"""The set of actions that whoever reads the trail may look for is that of what is recorded."""

import re

from copilot_admin.models.audit import Action
from copilot_admin.settings import BASE_DIR

NAMED = re.compile(r"\bAction\.([A-Z_]+)\b")


def test_every_action_is_recorded_somewhere():
    texts = [file.read_text() for file in (BASE_DIR / "copilot_admin").rglob("*.py")]
    assert {one for text in texts for one in NAMED.findall(text)} == set(Action.names)
