"""The copilots that answer now, ready for the engine."""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache

from copilot_admin.callers import Caller, identify
from copilot_admin.engine.document import spec_from_document
from copilot_admin.engine.model_call import Provider as ModelProvider
from copilot_admin.engine.providers.registry import make_provider
from copilot_admin.engine.spec import CopilotSpec
from copilot_admin.errors import ConfigurationError, NotFound, RunError
from copilot_admin.models import Copilot, CopilotVersion, Logging, Provider
from copilot_admin.providers import provider_spec
from copilot_admin.statements import Select

_READ_COPILOT = Select(Copilot, "id", "access", "logging", "live_id", where=("slug", "enabled"))
_READ_VERSION = Select(CopilotVersion, "number", "provider_id", where=("id",))
_READ_PROVIDER = Select(Provider, "updated_at", where=("id",))


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
    row = _find(slug)
    if row is None:
        raise NotFound(
            f"No published copilot is named '{slug}'. /agents.json lists those there are."
        )
    caller.check_may_ask(row.id, access=row.access)
    answerer, problem = _ready(row.version_id, slug, provider=_READ_PROVIDER(id=row.provider_id))
    live = LiveCopilot(
        id=row.id,
        slug=slug,
        version_id=row.version_id,
        version_number=row.version_number,
        logging=Logging(row.logging),
        answerer=answerer,
        problem=problem,
    )
    return live, caller


def live_copilots(ids: Collection[int]) -> tuple[LiveCopilot, ...]:
    """Those of some copilots that answer, in the order of their slugs; reads the database."""
    rows = (
        Copilot.objects.published()
        .filter(pk__in=ids)
        .order_by("slug")
        .values_list(
            "pk", "slug", "logging", "live_id", "live__number", "live__provider__updated_at"
        )
    )
    return tuple(_live(*row) for row in rows)


def _live(
    id: int, slug: str, logging: str, version_id: int, version_number: int, changed_at: datetime
) -> LiveCopilot:
    answerer, problem = _ready(version_id, slug, provider=(changed_at,))
    return LiveCopilot(
        id=id,
        slug=slug,
        version_id=version_id,
        version_number=version_number,
        logging=Logging(logging),
        answerer=answerer,
        problem=problem,
    )


@dataclass(frozen=True, slots=True)
class _Published:
    """What is stored of a copilot that answers, as far as a request needs it."""

    id: int
    access: str
    logging: str
    version_id: int
    version_number: int
    provider_id: int


def _find(slug: str) -> _Published | None:
    copilot = _READ_COPILOT(slug=slug, enabled=True)
    if copilot is None or copilot[-1] is None:
        return None
    version = _READ_VERSION(id=copilot[-1])
    return _Published(*copilot, *version) if version else None


def _ready(version_id: int, slug: str, *, provider: object) -> tuple[Answerer | None, str]:
    """A version's answerer, or why there is none."""
    try:
        return _answerer(version_id, slug, str(provider)), ""
    except (ConfigurationError, RunError) as error:
        return None, error.public


@lru_cache(maxsize=256)
def _answerer(version_id: int, slug: str, provider_updated_at: str) -> Answerer:
    """Versions never change; a provider does, so its last change is part of the cache's key."""
    version = CopilotVersion.objects.select_related("provider").get(pk=version_id)
    spec = spec_from_document(slug, version.document, provider_spec(version.provider))
    return Answerer(spec=spec, provider=make_provider(spec.provider))
