"""Steps of the connection test, in order."""

from collections.abc import Mapping
from enum import StrEnum
from functools import partial

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from copilot_admin.connection_test import browser, discovery
from copilot_admin.connection_test.documents import DocumentPlace
from copilot_admin.connection_test.questions import check_question
from copilot_admin.connection_test.values import Ask, ConnectionStep, Setup, StepFailed, StepResult
from protocol.models import Generation


class StepName(StrEnum):
    """Names of the steps in pages and tests."""

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


TITLES: Mapping[StepName, str | Promise] = {
    StepName.LIVE: _("The copilot is available"),
    StepName.KEY: _("API key available"),
    StepName.ADDRESS: _("Server URL is reachable"),
    StepName.AGENTS: _("Listed in /agents.json"),
    StepName.COPILOTS: _("Listed in /copilots.json (older versions)"),
    StepName.NAMES: _("ID and name are unique"),
    StepName.IMAGE: _("Image loads"),
    StepName.ORIGINS: _("CORS allows Workspace"),
    StepName.THREE: _("Answers a question (current Workspace)"),
    StepName.TWO: _("Answers a question (Workspace of early 2025)"),
    StepName.ONE: _("Answers a question (Terminal Pro)"),
}
_STEPS: Mapping[StepName, ConnectionStep] = {
    StepName.LIVE: discovery.live,
    StepName.KEY: discovery.key,
    StepName.ADDRESS: discovery.address,
    StepName.AGENTS: partial(discovery.listed, DocumentPlace.AGENTS),
    StepName.COPILOTS: partial(discovery.listed, DocumentPlace.COPILOTS),
    StepName.NAMES: discovery.names,
    StepName.IMAGE: browser.image,
    StepName.ORIGINS: browser.origins,
    StepName.THREE: partial(check_question, Generation.THREE),
    StepName.TWO: partial(check_question, Generation.TWO),
    StepName.ONE: partial(check_question, Generation.ONE),
}


async def run_step(name: StepName, setup: Setup, ask: Ask) -> StepResult:
    """Run one step."""
    try:
        return await _STEPS[name](setup, ask)
    except StepFailed as failed:
        return failed.result
