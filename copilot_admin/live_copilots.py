"""The copilots that answer now, ready for the engine."""

from dataclasses import dataclass, field
from functools import lru_cache

from copilot_admin.callers import Caller, identify
from copilot_admin.engine.document import spec_from_document
from copilot_admin.engine.model_call import Provider as ModelProvider
from copilot_admin.engine.providers.registry import make_provider
from copilot_admin.engine.spec import CopilotSpec
from copilot_admin.errors import ConfigurationError, NotFound, RunError
from copilot_admin.models import Copilot, CopilotVersion, Logging
from copilot_admin.providers import provider_spec


@dataclass(frozen=True, slots=True, kw_only=True)
class Answerer:
    """A version made ready: what it is, and the provider that speaks for it."""

    spec: CopilotSpec
    provider: ModelProvider


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveCopilot:
    """A published copilot at one moment.

    Attributes:
        answerer: None when the version cannot answer as it is configured.
        problem: Why it cannot, in words for the person who asked.
    """

    id: int
    slug: str
    version_id: int
    version_number: int
    logging: Logging
    answerer: Answerer | None = None
    problem: str = field(default="")


def admit(slug: str, *, key: str | None) -> tuple[LiveCopilot, Caller]:
    """Opens the door of a copilot to a caller; reads the database.

    Args:
        slug: Of the copilot.
        key: The endpoint key of the request, if it carries one.

    Raises:
        Unauthorized: The key is bad, or missing where one is needed.
        NotFound: No enabled, published copilot has this slug.
        Forbidden: The key is good, but not for this copilot.
    """
    caller = identify(key)
    row = Copilot.objects.published().filter(slug=slug).first()
    if row is None or row.live is None:
        raise NotFound(
            f"No published copilot is named '{slug}'. /agents.json lists those there are."
        )
    caller.check_may_ask(row.pk, access=row.access)
    return _live(row, row.live), caller


def _live(row: Copilot, version: CopilotVersion) -> LiveCopilot:
    answerer, problem = None, ""
    try:
        answerer = _answerer(version.pk, row.slug, version.provider.updated_at.isoformat())
    except (ConfigurationError, RunError) as error:
        problem = error.public
    return LiveCopilot(
        id=row.pk,
        slug=row.slug,
        version_id=version.pk,
        version_number=version.number,
        logging=Logging(row.logging),
        answerer=answerer,
        problem=problem,
    )


@lru_cache(maxsize=256)
def _answerer(version_id: int, slug: str, provider_updated_at: str) -> Answerer:
    """Versions never change; a provider does, so its last change is part of the cache's key."""
    version = CopilotVersion.objects.select_related("provider").get(pk=version_id)
    spec = spec_from_document(slug, version.document, provider_spec(version.provider))
    return Answerer(spec=spec, provider=make_provider(spec.provider))
