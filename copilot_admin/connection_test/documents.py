"""The two discovery documents, validated as Workspace does."""

from collections import Counter
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Literal
from urllib.parse import urljoin, urlsplit

from django.utils.translation import gettext as _
from pydantic import (
    AfterValidator,
    BaseModel,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
)

from copilot_admin.connection_test import values as workspace_words
from copilot_admin.connection_test.values import Answer, Ask, Setup, StepFailed, Unreached
from protocol.json import MalformedJson, loads

MAX_SHOWN = 300  # characters of an answer
MAX_FAULTS = 10


def _resolve_url(url: str, info: ValidationInfo) -> str:
    absolute = urljoin(f"{info.context}/", url)
    parts = urlsplit(absolute)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("not a URL")
    return absolute


_Name = Annotated[str, StringConstraints(min_length=1)]
_Url = Annotated[str, AfterValidator(_resolve_url)]


class _Feature(BaseModel):
    label: _Name


class _Model(BaseModel):
    id: _Name
    name: _Name


class _Endpoints(BaseModel):
    query: _Url


class AgentEntry(BaseModel):
    """A copilot in a document, with absolute URLs."""

    name: _Name
    description: str
    image: Literal[""] | _Url = ""
    endpoints: _Endpoints
    features: dict[str, bool | _Feature] = {}
    models: list[_Model] = []


# One invalid entry makes Workspace reject the whole document, such as a feature that is text.
_DOCUMENT = TypeAdapter(dict[str, AgentEntry])


class DocumentPlace(StrEnum):
    """Paths of the documents; older versions of Workspace request the second."""

    AGENTS = "/agents.json"
    COPILOTS = "/copilots.json"


async def document(
    setup: Setup, ask: Ask, place: DocumentPlace
) -> tuple[dict[str, AgentEntry], Answer]:
    """Load a document and return it with its response; raises `StepFailed` if it is rejected."""
    try:
        answer = await ask("GET", setup.base + place, headers={"X-API-Key": setup.key})
    except Unreached as error:
        raise StepFailed(
            _("The server can't reach itself. %(why)s") % {"why": error.public},
            workspace=workspace_words.NETWORK,
            fix=_(
                "Set PUBLIC_URL to the URL that users enter. If browsers reach it but this machine "
                "doesn't, this test can't say more."
            ),
        ) from error
    check_status(answer)
    return _read(answer, base=setup.base), answer


async def entry(setup: Setup, ask: Ask, place: DocumentPlace) -> AgentEntry:
    """Load the entry of the copilot; raises `StepFailed` if it isn't listed."""
    found, _answer = await document(setup, ask, place)
    if setup.slug not in found:
        raise StepFailed(
            _("The document doesn't list this copilot, so Workspace won't show it."),
            fix=setup.problem or _why_not_listed(setup),
            details=(_("It lists: %(ids)s") % {"ids": ", ".join(found)[:300] or "-"},),
        )
    return found[setup.slug]


def check_status(answer: Answer) -> None:
    """Raise `StepFailed` for a status other than 200."""
    if 300 <= answer.status < 400:
        where = answer.headers.get("location", "")
        raise StepFailed(
            _("The server redirects to another URL: %(where)s") % {"where": where[:300]},
            workspace=workspace_words.CORS,
            fix=_(
                "Set PUBLIC_URL to the target of the redirect and enter that in Workspace. Browsers "
                "don't follow redirects of CORS preflight requests."
            ),
        )
    if answer.status != 200:
        raise StepFailed(
            _("The server returned status %(status)d.") % {"status": answer.status},
            workspace=workspace_words.STATUS.get(answer.status, workspace_words.OTHER_STATUS),
            fix=_(
                "Something between browser and server answers instead, or the server failed. Check "
                "the response below and the logs of proxy and server."
            ),
            details=seen_in(answer),
        )


def _read(answer: Answer, *, base: str) -> dict[str, AgentEntry]:
    """Parse a document as Workspace does."""
    try:
        return _DOCUMENT.validate_json(answer.body, strict=True, context=base)
    except ValidationError as error:
        faults = error.errors(include_url=False)[:MAX_FAULTS]
    details = [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in faults]
    if faults[0]["type"] == "json_invalid":
        raise StepFailed(
            _("The response is not valid JSON."),
            workspace=workspace_words.NO_JSON,
            fix=_("Something answers instead of this server, such as a sign-in page of a proxy."),
            details=(faults[0]["msg"], *seen_in(answer)),
        )
    raise StepFailed(
        _("The document doesn't match the schema of Workspace."),
        workspace=workspace_words.SCHEMA,
        fix=_("One invalid entry makes Workspace reject all. Fix and publish the copilots below."),
        details=tuple(details),
    )


def conflicts(found: Mapping[str, AgentEntry]) -> tuple[str, ...]:
    """Return entries whose id or name differs from another only in upper and lower case."""
    ids = Counter(slug.casefold() for slug in found)
    names = Counter(one.name.casefold() for one in found.values())
    return tuple(
        f"{slug}: {one.name}"
        for slug, one in found.items()
        if ids[slug.casefold()] > 1 or names[one.name.casefold()] > 1
    )


def seen_in(answer: Answer) -> tuple[str, ...]:
    """Return the error text of a response, else the start of its body."""
    try:
        found = loads(answer.body)
    except MalformedJson:
        found = None
    detail = found.get("detail") if isinstance(found, dict) else None
    text = detail if isinstance(detail, str) else answer.body.decode("utf-8", "replace").strip()
    return (text[:MAX_SHOWN],)


def _why_not_listed(setup: Setup) -> str:
    if setup.needs_key:
        return _(
            "Configure your proxy to forward X-API-Key and not to cache the document. Without a key "
            "this copilot isn't listed."
        )
    return _("Another server answers here, or a proxy has cached an older document.")
