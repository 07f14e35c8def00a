"""The steps of the test in their order, each with what it is called."""

from collections.abc import Mapping
from enum import StrEnum

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from copilot_admin.connection_test import discovery, image, origins
from copilot_admin.connection_test import values as standing
from copilot_admin.connection_test.questions import question
from copilot_admin.connection_test.values import Ask, ConnectionStep, Setup, StepResult
from protocol.models import Generation


class StepName(StrEnum):
    """A step, as addresses and pages call it."""

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
    StepName.LIVE: _("The copilot is live"),
    StepName.KEY: _("Somebody has a key"),
    StepName.ADDRESS: _("The address leads to this server"),
    StepName.AGENTS: _("Workspace finds it in /agents.json"),
    StepName.COPILOTS: _("Older versions find it in /copilots.json"),
    StepName.NAMES: _("Its id and its name are its own"),
    StepName.IMAGE: _("Its image loads"),
    StepName.ORIGINS: _("Browsers let Workspace ask"),
    StepName.THREE: _("A first question, as Workspace asks today"),
    StepName.TWO: _("A first question, as Workspace asked in early 2025"),
    StepName.ONE: _("A first question, as Terminal Pro asked"),
}
_STEPS: Mapping[StepName, ConnectionStep] = {
    StepName.LIVE: standing.live,
    StepName.KEY: standing.key,
    StepName.ADDRESS: discovery.address,
    StepName.AGENTS: discovery.agents,
    StepName.COPILOTS: discovery.copilots,
    StepName.NAMES: discovery.names,
    StepName.IMAGE: image.image,
    StepName.ORIGINS: origins.origins,
    StepName.THREE: question(Generation.THREE),
    StepName.TWO: question(Generation.TWO),
    StepName.ONE: question(Generation.ONE),
}


async def run_step(name: StepName, setup: Setup, ask: Ask) -> StepResult:
    """Does one step of the test of a connection."""
    return await _STEPS[name](setup, ask)
