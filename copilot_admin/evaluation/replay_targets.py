"""Whom a replay asks: the draft as it stood at its start, a version, or that draft with another model."""

from dataclasses import dataclass
from decimal import Decimal

from django.utils.translation import gettext as _

from copilot_admin.copilots.publishing import apply_document, document_of
from copilot_admin.errors import ConfigurationError
from copilot_admin.evaluation.playground import draft_in_trial, version_in_trial
from copilot_admin.evaluation.question_queue import AnswerSource
from copilot_admin.evaluation.question_runs import Target, digest_of_draft, problem_of_draft
from copilot_admin.models import Copilot, CopilotVersion, Provider, Replay, ReplayTarget


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedTarget:
    """What somebody wants replayed against.

    Attributes:
        version_number: Of the version that is asked.
        provider: Of the other model; None: the draft's own.
        model: That answers instead of the draft's.
        most_cost: In US dollars; None: no bound.
    """

    target: ReplayTarget = ReplayTarget.DRAFT
    version_number: int = 0
    provider: Provider | None = None
    model: str = ""
    most_cost: Decimal | None = None


def replay_of(copilot: Copilot, wanted: WantedTarget) -> Replay:
    """A replay that is not stored yet.

    Raises:
        ConfigurationError: There is no such version, or no model was named.
    """
    replay = Replay(copilot=copilot, target=wanted.target, most_cost=wanted.most_cost)
    if wanted.target is ReplayTarget.VERSION:
        version = _version(copilot, wanted.version_number)
        if version is None:
            sentence = _("There is no version %(number)s of this copilot. Choose another.")
            raise ConfigurationError(sentence % {"number": wanted.version_number})
        replay.version_number = version.number
        replay.provider, replay.model = version.provider, str(version.document.get("model", ""))
    else:
        replay.document = document_of(copilot)
        replay.provider, replay.model = copilot.provider, copilot.model
    if wanted.target is ReplayTarget.MODEL:
        if not wanted.model:
            raise ConfigurationError(_("Write which model is asked."))
        replay.provider = wanted.provider or copilot.provider
        replay.model = wanted.model
    replay.provider_name = replay.provider.name
    return replay


def target_of_replay(replay: Replay) -> Target:
    """Whoever is asked, made ready; reads the database."""
    if replay.target == ReplayTarget.VERSION:
        version = _version(replay.copilot, replay.version_number)
        if version is None:
            return Target(problem=_("The version that was asked is gone."))
        source = AnswerSource(version_number=version.number)
        return Target(source=source, live=version_in_trial(version, tell=lambda call: None))
    if replay.provider is None:
        return Target(problem=_("The provider that was asked is gone."))
    copilot = replay.copilot
    own = copilot.provider
    apply_document(copilot, replay.document, provider=own)
    copilot.provider, copilot.model = replay.provider, replay.model
    if problem := problem_of_draft(copilot):
        return Target(problem=problem)
    is_other = replay.target == ReplayTarget.MODEL
    live = draft_in_trial(copilot, tell=lambda call: None, is_model_fixed=is_other)
    return Target(source=AnswerSource(digest=digest_of_draft(copilot)), live=live)


def _version(copilot: Copilot, number: int) -> CopilotVersion | None:
    return copilot.versions.select_related("provider", "copilot").filter(number=number).first()
