"""Reads the two discovery documents as Workspace does, and says what it would refuse."""

from collections import Counter
from collections.abc import Mapping
from enum import StrEnum
from typing import Any
from urllib.parse import urljoin, urlsplit

from django.utils.translation import gettext as _

from copilot_admin.connection_test import values as workspace_words
from copilot_admin.connection_test.values import (
    Answer,
    Ask,
    Setup,
    StepResult,
    StepVerdict,
    Unreached,
)
from protocol.json_schema import data_faults
from protocol.strict_json import MalformedJson, loads

_TEXT = {"type": "string"}
_NAME = {"type": "string", "minLength": 1}
# One wrong entry makes Workspace refuse the whole document: a feature that is text, for one.
_FEATURE = {
    "anyOf": [
        {"type": "boolean"},
        {"type": "object", "required": ["label"], "properties": {"label": _NAME}},
    ]
}
_ENTRY = {
    "type": "object",
    "required": ["name", "description", "endpoints"],
    "properties": {
        "name": _NAME,
        "description": _TEXT,
        "image": _TEXT,
        "endpoints": {
            "type": "object",
            "required": ["query"],
            "properties": {"query": _NAME},
            "additionalProperties": _TEXT,
        },
        "features": {"type": "object", "additionalProperties": _FEATURE},
        "models": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["id", "name"],
                "properties": {"id": _NAME, "name": _NAME},
            },
        },
    },
}
MOST_SHOWN = 300  # characters of an answer
SCHEMA: Mapping[str, Any] = {"type": "object", "additionalProperties": _ENTRY}


class DocumentPlace(StrEnum):
    """Where a document is: Workspace asks for the first, older ones for the second."""

    AGENTS = "/agents.json"
    COPILOTS = "/copilots.json"


class RefusedDocument(Exception):
    """A document that Workspace would not take."""

    def __init__(self, result: StepResult) -> None:
        super().__init__(result.sentence)
        self.result = result


async def document(setup: Setup, ask: Ask, place: DocumentPlace) -> tuple[dict[str, Any], Answer]:
    """A document of the server, and the answer in which it came.

    Raises:
        Refused: Workspace would not take it.
    """
    try:
        answer = await ask("GET", setup.base + place, headers={"X-API-Key": setup.key})
    except Unreached as error:
        raise RefusedDocument(_unreached(error)) from error
    check_status(answer)
    return read(answer, base=setup.base), answer


async def entry(setup: Setup, ask: Ask, place: DocumentPlace) -> dict[str, Any]:
    """What a document says of the copilot; its addresses are whole.

    Raises:
        Refused: There is no document, or it does not hold the copilot.
    """
    found, _answer = await document(setup, ask, place)
    if setup.slug not in found:
        raise RefusedDocument(_not_listed(setup, found))
    return dict(found[setup.slug])


def check_status(answer: Answer) -> None:
    """Lets an answer through whose status is good.

    Raises:
        Refused: It is not.
    """
    if 300 <= answer.status < 400:
        raise RefusedDocument(_redirected(answer))
    if answer.status == 200:
        return
    text = _("The server answered %(status)d, not 200.")
    raise RefusedDocument(
        StepResult(
            verdict=StepVerdict.BAD,
            sentence=text % {"status": answer.status},
            workspace=workspace_words.of_status(answer.status),
            mend=_(
                "Something between browser and server answers in its place, or the server has a "
                "fault: look at what it said here, and into the logs of both."
            ),
            details=seen_in(answer),
        )
    )


def read(answer: Answer, *, base: str) -> dict[str, Any]:
    """The document in an answer, its addresses resolved as Workspace resolves them.

    Raises:
        Refused: It is no JSON, or not of the shape that Workspace wants.
    """
    try:
        found = loads(answer.body)
    except MalformedJson as error:
        raise RefusedDocument(
            StepResult(
                verdict=StepVerdict.BAD,
                sentence=_("What came is no JSON."),
                workspace=workspace_words.NO_JSON,
                mend=_("Something answers in place of this server: a log-in page of a proxy?"),
                details=(error.public, *seen_in(answer)),
            )
        ) from error
    faults = data_faults(found, SCHEMA) or _address_faults(found, base)
    if faults:
        raise RefusedDocument(
            StepResult(
                verdict=StepVerdict.BAD,
                sentence=_("The document has not the shape that Workspace wants."),
                workspace=workspace_words.SCHEMA,
                mend=_(
                    "One wrong entry takes all others along. Mend, then publish, what is named."
                ),
                details=tuple(faults),
            )
        )
    return {slug: _resolved(one, base) for slug, one in _entries(found)}


def conflicts(found: Mapping[str, Any]) -> tuple[str, ...]:
    """Ids and names in a document that Workspace would not tell apart: it looks away from case."""
    ids = Counter(slug.casefold() for slug in found)
    names = Counter(str(one["name"]).casefold() for one in found.values())
    return tuple(
        f"{slug}: {one['name']}"
        for slug, one in found.items()
        if ids[slug.casefold()] > 1 or names[str(one["name"]).casefold()] > 1
    )


def seen_in(answer: Answer) -> tuple[str, ...]:
    """What this server says of a refusal, else the beginning of an answer's body as text."""
    text = _detail(answer) or answer.body.decode("utf-8", "replace").strip()
    return (text[:MOST_SHOWN],) if text else ()


def _detail(answer: Answer) -> str:
    try:
        found = loads(answer.body)
    except MalformedJson:
        return ""
    detail = found.get("detail") if isinstance(found, dict) else None
    return detail if isinstance(detail, str) else ""


def _entries(found: Any) -> list[tuple[str, dict[str, Any]]]:
    return list(found.items())


def _resolved(one: Mapping[str, Any], base: str) -> dict[str, Any]:
    endpoints = {name: urljoin(f"{base}/", to) for name, to in one["endpoints"].items()}
    image = {"image": urljoin(f"{base}/", one["image"])} if one.get("image") else {}
    return {**one, "endpoints": endpoints, **image}


def _address_faults(found: Any, base: str) -> tuple[str, ...]:
    return tuple(
        _("%(slug)s: %(address)s is no web address.") % {"slug": slug, "address": address}
        for slug, one in _entries(found)
        for address in (*one["endpoints"].values(), *filter(None, [one.get("image")]))
        if not _is_web_address(address, base)
    )


def _is_web_address(address: str, base: str) -> bool:
    try:
        parts = urlsplit(urljoin(f"{base}/", address))
        return parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        return False


def _unreached(error: Unreached) -> StepResult:
    return StepResult(
        verdict=StepVerdict.BAD,
        sentence=_("The server did not reach itself. %(why)s") % {"why": error.public},
        workspace=workspace_words.NETWORK,
        mend=_(
            "Set PUBLIC_URL to the address that people use. If this machine cannot reach itself "
            "under it although browsers can, this test cannot say more."
        ),
    )


def _redirected(answer: Answer) -> StepResult:
    where = answer.headers.get("location", "")
    return StepResult(
        verdict=StepVerdict.BAD,
        sentence=_("The server sends browsers on to another address: %(where)s")
        % {"where": where[:300]},
        workspace=workspace_words.CORS,
        mend=_(
            "Set PUBLIC_URL to the address to which it leads, and enter that in Workspace: browsers "
            "follow no redirect when they ask first whether they may."
        ),
    )


def _not_listed(setup: Setup, found: Mapping[str, Any]) -> StepResult:
    return StepResult(
        verdict=StepVerdict.BAD,
        sentence=_("The document does not hold this copilot: Workspace would not show it."),
        mend=setup.problem or _why_not_listed(setup),
        details=(_("It holds: %(ids)s") % {"ids": ", ".join(found)[:300] or "-"},),
    )


def _why_not_listed(setup: Setup) -> str:
    if setup.needs_key:
        return _(
            "Let the proxy pass X-API-Key on, and keep no document: who sends no key is not shown "
            "this copilot."
        )
    return _("Another server answers here, or a proxy keeps an older document.")
