"""Targets of evaluations and of the playground: a draft, a version, the draft with another model."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import cast

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.utils.translation import gettext as _

from copilot_admin.agent.providers.registry import make_provider
from copilot_admin.agent.values.model_call import Alive, Delta, ModelCall, ModelProvider
from copilot_admin.copilots.callers import Caller
from copilot_admin.copilots.checklist.findings import digest_of_draft
from copilot_admin.copilots.end_users import user_of_admin
from copilot_admin.copilots.live import Answerer, LiveCopilot, answerer_of
from copilot_admin.copilots.other_providers import (
    find_missing,
    find_providers,
    names_in_draft,
    providers_of_version,
)
from copilot_admin.copilots.providers import provider_spec
from copilot_admin.copilots.publishing import apply_document, document_of
from copilot_admin.errors import ConfigurationError, RunError
from copilot_admin.evaluation.assertions import Judge
from copilot_admin.models import (
    Copilot,
    CopilotVersion,
    EvaluationRun,
    Logging,
    Provider,
    TargetKind,
)
from copilot_admin.models.conversations import PLAYGROUND
from copilot_admin.redaction.rules import rules_of

CallObserver = Callable[[ModelCall], None]


class ObservedProvider:
    """Provider that reports each request before forwarding it."""

    def __init__(self, provider: ModelProvider, observe: CallObserver) -> None:
        self._provider = provider
        self._observe = observe

    async def stream(self, call: ModelCall) -> AsyncGenerator[Delta | Alive, None]:
        self._observe(call)
        async with aclosing(self._provider.stream(call)) as deltas:
            async for delta in deltas:
                yield delta

    async def models(self) -> tuple[str, ...]:
        return await self._provider.models()


def make_caller(user: AbstractBaseUser | AnonymousUser) -> Caller:
    """Return a builder as a distinct caller, so that builders don't share chats."""
    return Caller(principal=f"{PLAYGROUND}{user.pk}", user=user_of_admin(user))


def prepare_draft(
    copilot: Copilot, *, observe: CallObserver | None = None, is_model_fixed: bool = False
) -> LiveCopilot:
    """Return a draft as if it were published; reads the database only.

    Args:
        copilot: The draft, saved or not; its row exists.
        observe: Called in the event loop with each request to the model.
        is_model_fixed: Use its own model, whatever the user picks or switches on.
    """

    def make_answerer() -> Answerer:
        others = find_providers(names_in_draft(copilot))
        made = answerer_of(copilot.slug, document_of(copilot), copilot.provider, others=others)
        return _with_one_model(made) if is_model_fixed else made

    return _prepare(copilot, None, make_answerer, observe)


def prepare_version(version: CopilotVersion, *, observe: CallObserver | None = None) -> LiveCopilot:
    """Return a version of any age, ready to answer; it comes with its copilot and provider."""

    def make_answerer() -> Answerer:
        others = providers_of_version(version.pk)
        slug = version.copilot.slug
        return answerer_of(slug, version.document, version.provider, others=others)

    return _prepare(version.copilot, version, make_answerer, observe)


def _prepare(
    copilot: Copilot,
    version: CopilotVersion | None,
    make_answerer: Callable[[], Answerer],
    observe: CallObserver | None,
) -> LiveCopilot:
    answerer, problem = None, ""
    try:
        answerer = make_answerer()
    except (ConfigurationError, RunError) as error:
        problem = error.public
    return LiveCopilot(
        id=copilot.pk,
        slug=copilot.slug,
        version_id=version.pk if version else None,
        version_number=version.number if version else 0,
        logging=Logging.EVERYTHING,  # builders can read their own questions
        redaction=rules_of(copilot),
        answerer=_observe(answerer, observe) if answerer and observe else answerer,
        problem=problem,
    )


def _with_one_model(answerer: Answerer) -> Answerer:
    controls = tuple(
        replace(control, model="", provider="") for control in answerer.spec.custom_features
    )
    spec = replace(answerer.spec, models=(), custom_features=controls, fallbacks=())
    return replace(answerer, spec=spec, others={}, fallbacks=())


def _observe(answerer: Answerer, observe: CallObserver) -> Answerer:
    def wrap(provider: ModelProvider) -> ModelProvider:
        # Only the methods of a provider's class are needed.
        return cast("ModelProvider", ObservedProvider(provider, observe))

    return Answerer(
        spec=answerer.spec,
        provider=wrap(answerer.provider),
        others={name: _observe(one, observe) for name, one in answerer.others.items()},
        fallbacks=tuple(
            replace(target, provider=wrap(target.provider)) for target in answerer.fallbacks
        ),
    )


def make_run(
    copilot: Copilot,
    kind: TargetKind = TargetKind.DRAFT,
    *,
    version_number: int = 0,
    provider: Provider | None = None,
    model: str = "",
) -> EvaluationRun:
    """Return an unsaved run on a target; number, provider and model are those of its kind."""
    run = EvaluationRun(copilot=copilot, target=kind)
    if kind in (TargetKind.LIVE, TargetKind.VERSION):
        number = version_number
        if kind is TargetKind.LIVE:
            number = copilot.live.number if copilot.live else 0
        version = _find_version(copilot, number)
        if version is None and kind is TargetKind.LIVE:
            raise ConfigurationError(_("There is no live version. Publish the copilot first."))
        if version is None:
            sentence = _("There is no version %(number)s of this copilot.") % {"number": number}
            raise ConfigurationError(sentence)
        run.version_number = version.number
        run.provider, run.model = version.provider, str(version.document.get("model", ""))
    else:
        run.document, run.digest = document_of(copilot), digest_of_draft(copilot)
        run.provider, run.model = copilot.provider, copilot.model
    if kind is TargetKind.MODEL:
        if not model:
            raise ConfigurationError(_("Enter a model ID."))
        run.provider, run.model = provider or copilot.provider, model
    run.provider_name = run.provider.name
    return run


def prepare_target(run: EvaluationRun) -> tuple[LiveCopilot, Judge | None]:
    """Return a run's target and judge, or raise ConfigurationError or RunError; reads the database."""
    if run.target in (TargetKind.LIVE, TargetKind.VERSION):
        version = _find_version(run.copilot, run.version_number)
        if version is None:
            raise ConfigurationError(_("The version was deleted."))
        live = prepare_version(version)
        return live, _find_judge(run, live)
    if run.provider is None:
        raise ConfigurationError(_("The provider was deleted."))
    draft = run.copilot
    apply_document(draft, run.document, provider=draft.provider)
    draft.provider, draft.model = run.provider, run.model
    for name in find_missing(names_in_draft(draft)):
        problem = _("There is no provider named '%(name)s'. Choose another.")
        raise ConfigurationError(problem % {"name": name})
    live = prepare_draft(draft, is_model_fixed=run.target == TargetKind.MODEL)
    return live, _find_judge(run, live)


def _find_judge(run: EvaluationRun, live: LiveCopilot) -> Judge | None:
    answerer = live.answerer
    if answerer is None:
        return None
    if run.judge_model and run.judge_provider is not None:
        spec = provider_spec(run.judge_provider)
        return Judge(provider=make_provider(spec), spec=spec, model=run.judge_model, parameters={})
    return Judge(
        provider=answerer.provider,
        spec=answerer.spec.provider,
        model=answerer.spec.model,
        parameters=answerer.spec.parameters,
    )


def _find_version(copilot: Copilot, number: int) -> CopilotVersion | None:
    return copilot.versions.select_related("provider", "copilot").filter(number=number).first()
