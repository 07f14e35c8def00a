"""A draft that nobody published, or a version, made ready to answer whoever makes the copilot."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import cast

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

from copilot_admin.agent.values.model_call import (
    Alive,
    Delta,
    ModelCall,
    ModelProvider,
)
from copilot_admin.copilots.callers import Caller
from copilot_admin.copilots.live import Answerer, LiveCopilot, answerer_of
from copilot_admin.copilots.other_providers import (
    find_providers,
    names_in_draft,
    providers_of_version,
)
from copilot_admin.copilots.publishing import document_of
from copilot_admin.copilots.users import user_of_admin
from copilot_admin.errors import ConfigurationError, RunError
from copilot_admin.models import Copilot, CopilotVersion, Logging
from copilot_admin.models.conversations import PLAYGROUND
from copilot_admin.redaction.rules import rules_of

Witness = Callable[[ModelCall], None]


class Witnessed:
    """A provider around another one, of which somebody is told what it is asked."""

    def __init__(self, provider: ModelProvider, tell: Witness) -> None:
        self._provider = provider
        self._tell = tell

    async def stream(self, call: ModelCall) -> AsyncGenerator[Delta | Alive, None]:
        """Tells of the call and streams the answer of the provider."""
        self._tell(call)
        async with aclosing(self._provider.stream(call)) as deltas:
            async for delta in deltas:
                yield delta

    async def models(self) -> tuple[str, ...]:
        """The models of the provider."""
        return await self._provider.models()


def builder(user: AbstractBaseUser | AnonymousUser) -> Caller:
    """Who tries a draft, as transcripts name him; no trial joins the chat of anybody else."""
    return Caller(principal=f"{PLAYGROUND}{user.pk}", user=user_of_admin(user))


def draft_in_trial(copilot: Copilot, *, tell: Witness, is_model_fixed: bool = False) -> LiveCopilot:
    """A draft as it would answer if it were published; reads the database, changes nothing.

    Args:
        copilot: The draft, saved or not; its row exists.
        tell: Told of each request to the model. It is called in the event loop.
        is_model_fixed: Whether its own model answers, whatever its users may pick or switch on.
    """

    def ready() -> Answerer:
        others = find_providers(names_in_draft(copilot))
        made = answerer_of(copilot.slug, document_of(copilot), copilot.provider, others=others)
        return _with_one_model(made) if is_model_fixed else made

    return _in_trial(copilot, None, ready, tell)


def version_in_trial(version: CopilotVersion, *, tell: Witness) -> LiveCopilot:
    """A version of any age as it answers, or would; reads the database, changes nothing.

    Args:
        version: With its copilot and its provider.
        tell: As of a draft.
    """
    slug = version.copilot.slug

    def ready() -> Answerer:
        others = providers_of_version(version.pk)
        return answerer_of(slug, version.document, version.provider, others=others)

    return _in_trial(version.copilot, version, ready, tell)


def _in_trial(
    copilot: Copilot, version: CopilotVersion | None, ready: Callable[[], Answerer], tell: Witness
) -> LiveCopilot:
    answerer, problem = None, ""
    try:
        answerer = _told(ready(), tell)
    except (ConfigurationError, RunError) as error:
        problem = error.public
    return LiveCopilot(
        id=copilot.pk,
        slug=copilot.slug,
        version_id=version.pk if version else None,
        version_number=version.number if version else 0,
        logging=Logging.EVERYTHING,  # it is the builder's own question, and he wants to read it
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


def _told(answerer: Answerer, tell: Witness) -> Answerer:
    return Answerer(
        spec=answerer.spec,
        # Of a kind's class it needs only the methods.
        provider=cast("ModelProvider", Witnessed(answerer.provider, tell)),
        others={name: _told(other, tell) for name, other in answerer.others.items()},
        fallbacks=tuple(
            replace(target, provider=cast("ModelProvider", Witnessed(target.provider, tell)))
            for target in answerer.fallbacks
        ),
    )
