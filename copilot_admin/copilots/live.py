"""The copilots that answer now, ready for the engine."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache

from copilot_admin.agent.llm.model_choice import switched_provider
from copilot_admin.agent.providers.registry import make_provider
from copilot_admin.agent.values.document import spec_from_document
from copilot_admin.agent.values.model_call import ModelProvider, ModelTarget
from copilot_admin.agent.values.spec import CopilotSpec
from copilot_admin.copilots.callers import Caller, check_user, identify
from copilot_admin.copilots.end_users import AskingUser
from copilot_admin.copilots.other_providers import providers_of_version
from copilot_admin.copilots.providers import key_file_times, provider_spec
from copilot_admin.errors import ConfigurationError, NotFound, RunError
from copilot_admin.models import Copilot, CopilotVersion, Logging, Provider
from copilot_admin.redaction.rules import NO_RULES, Rules, rules_for
from copilot_admin.storage.sql import fetch_row, read_json, read_time
from protocol.json import Json
from protocol.models import Query

_COLUMNS = (  # of what `_live` makes
    "logging",
    "redaction",
    "redacted_expressions",
    "live_id",
    "live__number",
    "live__provider__updated_at",
)
_READ_LIVE = """
SELECT copilot.id, copilot.access, copilot.logging, copilot.redaction, copilot.redacted_expressions,
    version.id AS version_id, version.number AS version_number, provider.updated_at AS changed_at
FROM copilot_admin_copilot copilot
JOIN copilot_admin_copilotversion version ON version.id = copilot.live_id
JOIN copilot_admin_provider provider ON provider.id = version.provider_id
WHERE copilot.slug = %(slug)s AND copilot.enabled
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answerer:
    """A version made ready: what it is, and the provider that speaks for it.

    Attributes:
        others: Those that speak while the user has a control on that says so, by name.
        fallbacks: Models to try when the chosen one fails before its first word.
    """

    spec: CopilotSpec
    provider: ModelProvider
    others: "Mapping[str, Answerer]" = field(default_factory=dict)
    fallbacks: tuple[ModelTarget, ...] = ()

    def for_query(self, query: Query) -> "Answerer":
        """Who answers a query: usually this one."""
        if not self.others:
            return self
        return self.others.get(switched_provider(self.spec, query), self)


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveCopilot:
    """A copilot that answers, at one moment.

    Attributes:
        version_id: Of the published version; None: it is the draft that its builder tries.
        version_number: 0 of a draft.
        redaction: What is taken out of whatever is stored.
        answerer: None when the version cannot answer as it is configured.
        problem: Why it cannot, in words for the person who asked.
    """

    id: int
    slug: str
    version_id: int | None
    version_number: int
    logging: Logging
    redaction: Rules = NO_RULES
    answerer: Answerer | None = None
    problem: str = field(default="")


def admit(
    slug: str, *, key: str | None, user: AskingUser | None = None
) -> tuple[LiveCopilot, Caller]:
    """Opens the door of a copilot to a caller; reads the database.

    Args:
        slug: Of the copilot.
        key: The endpoint key of the request, if it carries one.
        user: Who asks, as a token or a proxy says.

    Raises:
        Unauthorized: The key is bad, or missing where one is needed; or nobody knows who asks,
            where the server wants to know it.
        NotFound: No enabled, published copilot has this slug.
        Forbidden: The key is good, but not for this copilot.
    """
    caller = identify(key, user)
    check_user(caller)
    row = _find(slug)
    if row is None:
        raise NotFound(
            f"No published copilot is named '{slug}'. /agents.json lists those there are."
        )
    caller.check_may_ask(row.id, access=row.access)
    # A test question is the builder's own, and they need to read why it failed.
    logging = Logging.EVERYTHING if caller.is_trying else row.logging
    live = _live(
        row.id,
        slug,
        logging,
        row.kinds,
        row.expressions,
        row.version_id,
        row.version_number,
        row.changed_at,
    )
    return live, caller


def live_copilots(ids: Collection[int]) -> tuple[LiveCopilot, ...]:
    """Those of some copilots that answer, in the order of their slugs; reads the database."""
    rows = (
        Copilot.objects.published()
        .filter(pk__in=ids)
        .order_by("slug")
        .values_list("pk", "slug", *_COLUMNS)
    )
    return tuple(_live(*row) for row in rows)


def being_deleted(ids: Collection[int]) -> frozenset[int]:
    """Those of some copilots that are on their way out, or gone; reads the database."""
    staying = Copilot.objects.filter(pk__in=ids, deletion_requested_at=None)
    return frozenset(ids) - set(staying.values_list("pk", flat=True))


def _live(
    id: int,
    slug: str,
    logging: str,
    kinds: Sequence[str],
    expressions: Sequence[str],
    version_id: int,
    version_number: int,
    changed_at: datetime | None,
) -> LiveCopilot:
    changed = (changed_at, *map(_changed_at, _other_ids(version_id)), *key_file_times())
    answerer, problem = _ready(version_id, slug, changed=changed)
    return LiveCopilot(
        id=id,
        slug=slug,
        version_id=version_id,
        version_number=version_number,
        logging=Logging(logging),
        redaction=rules_for(kinds, expressions),
        answerer=answerer,
        problem=problem,
    )


@dataclass(frozen=True, slots=True)
class _Published:
    """Stored settings of a live copilot that requests need.

    Attributes:
        changed_at: When its provider last changed, which cannot be deleted while a version has it.
    """

    id: int
    access: str
    logging: str
    kinds: Sequence[str]
    expressions: Sequence[str]
    version_id: int
    version_number: int
    changed_at: datetime | None


def _find(slug: str) -> _Published | None:
    row = fetch_row(_READ_LIVE, slug=slug)
    if row is None:
        return None
    return _Published(
        id=row["id"],
        access=row["access"],
        logging=row["logging"],
        kinds=read_json(row["redaction"]),
        expressions=read_json(row["redacted_expressions"]),
        version_id=row["version_id"],
        version_number=row["version_number"],
        changed_at=read_time(row["changed_at"]),
    )


def _changed_at(provider_id: int) -> datetime | None:
    return Provider.objects.filter(pk=provider_id).values_list("updated_at", flat=True).first()


@lru_cache(maxsize=1024)
def _other_ids(version_id: int) -> tuple[int, ...]:
    return tuple(provider.pk for provider in providers_of_version(version_id).values())


def _ready(
    version_id: int, slug: str, *, changed: tuple[datetime | float | None, ...]
) -> tuple[Answerer | None, str]:
    try:
        return _answerer(version_id, slug, changed), ""
    except (ConfigurationError, RunError) as error:
        return None, error.public


@lru_cache(maxsize=256)
def _answerer(version_id: int, slug: str, changed: tuple[datetime | float | None, ...]) -> Answerer:
    version = CopilotVersion.objects.select_related("provider").get(pk=version_id)
    return answerer_of(
        slug, version.document, version.provider, others=providers_of_version(version_id)
    )


def answerer_of(
    slug: str, document: Mapping[str, Json], provider: Provider, *, others: Mapping[str, Provider]
) -> Answerer:
    """Makes a document ready to answer.

    Args:
        slug: Of the copilot.
        document: The versioned part of it.
        provider: Who speaks for it.
        others: Who speaks while a control says so, by the names that the document has for them.

    Raises:
        ConfigurationError: It cannot answer as it is configured.
        RunError: Its provider cannot.
    """
    spec = spec_from_document(slug, document, provider_spec(provider))
    own = make_provider(spec.provider)
    specs = {name: provider_spec(other) for name, other in others.items()}
    providers = {name: make_provider(one) for name, one in specs.items()}
    fallbacks = tuple(
        ModelTarget(
            model=one.model,
            spec=specs.get(one.provider, spec.provider),
            provider=providers.get(one.provider, own),
        )
        for one in spec.fallbacks
        if not one.provider or one.provider in providers
    )
    answerers = {
        name: Answerer(spec=replace(spec, provider=specs[name]), provider=one, fallbacks=fallbacks)
        for name, one in providers.items()
    }
    return Answerer(spec=spec, provider=own, others=answerers, fallbacks=fallbacks)
