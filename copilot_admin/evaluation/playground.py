"""A draft or a version prepared to answer its builder, with its requests to models observable."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import cast

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

from copilot_admin.agent.values.model_call import Alive, Delta, ModelCall, ModelProvider
from copilot_admin.copilots.callers import Caller
from copilot_admin.copilots.end_users import user_of_admin
from copilot_admin.copilots.live import Answerer, LiveCopilot, answerer_of
from copilot_admin.copilots.other_providers import (
    find_providers,
    names_in_draft,
    providers_of_version,
)
from copilot_admin.copilots.publishing import document_of
from copilot_admin.errors import ConfigurationError, RunError
from copilot_admin.models import Copilot, CopilotVersion, Logging
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
    copilot: Copilot, *, observe: CallObserver, is_model_fixed: bool = False
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


def prepare_version(version: CopilotVersion, *, observe: CallObserver) -> LiveCopilot:
    """Return a version of any age, ready to answer; reads the database only.

    Args:
        version: With its copilot and its provider.
        observe: Called in the event loop with each request to the model.
    """

    def make_answerer() -> Answerer:
        others = providers_of_version(version.pk)
        slug = version.copilot.slug
        return answerer_of(slug, version.document, version.provider, others=others)

    return _prepare(version.copilot, version, make_answerer, observe)


def _prepare(
    copilot: Copilot,
    version: CopilotVersion | None,
    make_answerer: Callable[[], Answerer],
    observe: CallObserver,
) -> LiveCopilot:
    answerer, problem = None, ""
    try:
        answerer = _observe_providers(make_answerer(), observe)
    except (ConfigurationError, RunError) as error:
        problem = error.public
    return LiveCopilot(
        id=copilot.pk,
        slug=copilot.slug,
        version_id=version.pk if version else None,
        version_number=version.number if version else 0,
        logging=Logging.EVERYTHING,  # builders can read their own questions
        redaction=rules_of(copilot),
        answerer=answerer,
        problem=problem,
    )


def _with_one_model(answerer: Answerer) -> Answerer:
    controls = tuple(
        replace(control, model="", provider="") for control in answerer.spec.custom_features
    )
    spec = replace(answerer.spec, models=(), custom_features=controls, fallbacks=())
    return replace(answerer, spec=spec, others={}, fallbacks=())


def _observe_providers(answerer: Answerer, observe: CallObserver) -> Answerer:
    def wrap(provider: ModelProvider) -> ModelProvider:
        # Only the methods of a provider's class are needed.
        return cast("ModelProvider", ObservedProvider(provider, observe))

    return Answerer(
        spec=answerer.spec,
        provider=wrap(answerer.provider),
        others={name: _observe_providers(one, observe) for name, one in answerer.others.items()},
        fallbacks=tuple(
            replace(target, provider=wrap(target.provider)) for target in answerer.fallbacks
        ),
    )
