"""Steps of the connection test, in order."""

from collections.abc import Mapping
from enum import StrEnum
from functools import partial

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from copilot_admin.connection_test import browser, discovery
from copilot_admin.connection_test.discovery import listed
from copilot_admin.connection_test.documents import DocumentPlace
from copilot_admin.connection_test.questions import check_question as check
from copilot_admin.connection_test.values import Ask, ConnectionStep, Setup, StepFailed, StepResult
from protocol.models import Generation


class StepName(StrEnum):
    LIVE = "live"
    KEY = "key"
    ADDRESS = "address"
    AGENTS = "agents"
    COPILOTS = "copilots"
    NAMES = "names"
    IMAGE = "image"
    ORIGINS = "origins"
    THREE = "three"
    TWO = "two"
    ONE = "one"


_STEPS: Mapping[StepName, tuple[str | Promise, ConnectionStep]] = {
    StepName.LIVE: (_("The copilot is available"), discovery.live),
    StepName.KEY: (_("API key available"), discovery.key),
    StepName.ADDRESS: (_("Server URL is reachable"), discovery.address),
    StepName.AGENTS: (_("Listed in /agents.json"), partial(listed, DocumentPlace.AGENTS)),
    StepName.COPILOTS: (
        _("Listed in /copilots.json (older versions)"),
        partial(listed, DocumentPlace.COPILOTS),
    ),
    StepName.NAMES: (_("ID and name are unique"), discovery.names),
    StepName.IMAGE: (_("Image loads"), browser.image),
    StepName.ORIGINS: (_("CORS allows Workspace"), browser.origins),
    StepName.THREE: (_("Answers a question (current Workspace)"), partial(check, Generation.THREE)),
    StepName.TWO: (
        _("Answers a question (Workspace of early 2025)"),
        partial(check, Generation.TWO),
    ),
    StepName.ONE: (_("Answers a question (Terminal Pro)"), partial(check, Generation.ONE)),
}
TITLES: Mapping[StepName, str | Promise] = {name: title for name, (title, _step) in _STEPS.items()}


async def run_step(name: StepName, setup: Setup, ask: Ask) -> StepResult:
    try:
        _title, step = _STEPS[name]
        return await step(setup, ask)
    except StepFailed as failed:
        return failed.result
