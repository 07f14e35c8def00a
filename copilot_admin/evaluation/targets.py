"""Targets of evaluation runs: the draft, the live version, a version, the draft with another model."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from copilot_admin.agent.providers.registry import make_provider
from copilot_admin.copilots.live import LiveCopilot
from copilot_admin.copilots.other_providers import find_missing, names_in_draft
from copilot_admin.copilots.providers import provider_spec
from copilot_admin.copilots.publish_gate import digest_of_draft
from copilot_admin.copilots.publishing import apply_document, document_of
from copilot_admin.errors import ConfigurationError
from copilot_admin.evaluation.judge import Judge
from copilot_admin.evaluation.playground import prepare_draft, prepare_version
from copilot_admin.models import Copilot, CopilotVersion, EvaluationRun, Provider, TargetKind

MAX_VERSION_CHOICES = 20  # the newest


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A choice of what to evaluate.

    Attributes:
        version_number: Of a version.
        provider: Of another model; None for the draft's.
        model: Another model.
    """

    kind: TargetKind = TargetKind.DRAFT
    version_number: int = 0
    provider: Provider | None = None
    model: str = ""


def make_run(copilot: Copilot, target: Target) -> EvaluationRun:
    """Return an unsaved run.

    Raises:
        ConfigurationError: The version doesn't exist, or the model has no name.
    """
    run = EvaluationRun(copilot=copilot, target=target.kind)
    if target.kind in (TargetKind.LIVE, TargetKind.VERSION):
        number = target.version_number
        if target.kind is TargetKind.LIVE:
            number = copilot.live.number if copilot.live else 0
        version = _find_version(copilot, number)
        if version is None and target.kind is TargetKind.LIVE:
            raise ConfigurationError(_("There is no live version. Publish the copilot first."))
        if version is None:
            sentence = _("There is no version %(number)s of this copilot.") % {"number": number}
            raise ConfigurationError(sentence)
        run.version_number = version.number
        run.provider, run.model = version.provider, str(version.document.get("model", ""))
    else:
        run.document, run.digest = document_of(copilot), digest_of_draft(copilot)
        run.provider, run.model = copilot.provider, copilot.model
    if target.kind is TargetKind.MODEL:
        if not target.model:
            raise ConfigurationError(_("Enter a model ID."))
        run.provider, run.model = target.provider or copilot.provider, target.model
    run.provider_name = run.provider.name
    return run


def prepare_target(run: EvaluationRun) -> tuple[LiveCopilot, Judge | None]:
    """Return a run's target and judge; reads the database.

    Raises:
        ConfigurationError: The target was deleted.
        RunError: The judge's key can't be read.
    """
    if run.target in (TargetKind.LIVE, TargetKind.VERSION):
        version = _find_version(run.copilot, run.version_number)
        if version is None:
            raise ConfigurationError(_("The version was deleted."))
        live = prepare_version(version, observe=lambda call: None)
        return live, _find_judge(run, live)
    if run.provider is None:
        raise ConfigurationError(_("The provider was deleted."))
    draft = run.copilot
    apply_document(draft, run.document, provider=draft.provider)
    draft.provider, draft.model = run.provider, run.model
    for name in find_missing(names_in_draft(draft)):
        problem = _("There is no provider named '%(name)s'. Choose another.")
        raise ConfigurationError(problem % {"name": name})
    is_other = run.target == TargetKind.MODEL
    live = prepare_draft(draft, observe=lambda call: None, is_model_fixed=is_other)
    return live, _find_judge(run, live)


def _find_judge(run: EvaluationRun, live: LiveCopilot) -> Judge | None:
    answerer = live.answerer
    if answerer is None:
        return None
    if not run.judge_model or run.judge_provider is None:
        return Judge(
            provider=answerer.provider,
            spec=answerer.spec.provider,
            model=answerer.spec.model,
            parameters=dict(answerer.spec.parameters),
        )
    spec = provider_spec(run.judge_provider)
    return Judge(provider=make_provider(spec), spec=spec, model=run.judge_model, parameters={})


def _find_version(copilot: Copilot, number: int) -> CopilotVersion | None:
    return copilot.versions.select_related("provider", "copilot").filter(number=number).first()
