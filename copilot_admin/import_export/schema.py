"""The copilot file as types: every key, its values, its default."""

from typing import Annotated, Any, Literal

from django.utils.translation import gettext as _
from pydantic import AfterValidator, Field, StringConstraints, ValidationError, field_validator

from copilot_admin.agent.fetching.addresses import check_base_url, correct_base_url
from copilot_admin.agent.providers.registry import provider_kinds
from copilot_admin.copilots.config import LIVE_FIELDS, VERSIONED_FIELDS, CopilotConfig
from copilot_admin.copilots.config_types import (
    Name,
    Shape,
    fault,
    matching,
    refuse_repeated,
    to_stored,
)
from copilot_admin.copilots.providers import (
    ENVIRONMENT_NAME,
    is_proxy_url,
    key_variables,
    may_hold_key,
)
from copilot_admin.copilots.test_cases import MAX_TEST_CASES, TestCaseEntry
from copilot_admin.errors import NotReady
from copilot_admin.import_export.errors import BadCopilotFile, read_errors

FORMAT = 1

Seconds = Annotated[float, Field(gt=0, le=3600)]
OptionText = Annotated[str, StringConstraints(max_length=300)]


def _known_kind(kind: str) -> str:
    kind = "demo" if kind == "rehearsal" else kind  # the name in older files
    kinds = [name for name, _label in provider_kinds()]
    if kind not in kinds:
        sentence = _("there is no kind '%(kind)s'. Use one of: %(known)s.")
        raise fault(sentence % {"kind": kind, "known": ", ".join(kinds)}, "unknown_kind")
    return kind


def _usable_url(url: str) -> str:
    try:
        return check_base_url(correct_base_url(url)) if url else url
    except NotReady as error:
        raise fault(error.public, "url") from error


def _proxy(url: str) -> str:
    if url and not is_proxy_url(url):
        raise fault(
            _("write a URL without name and password: http://proxy.example.com:3128"), "url"
        )
    return url


def _key_variable(name: str) -> str:
    if name and not may_hold_key(name):
        sentence = _("%(name)s is not an allowed key variable. Use one of: %(known)s.")
        raise fault(sentence % {"name": name, "known": key_variables(name)}, "key_variable")
    return name


class TimeoutEntry(Shape):
    """How long a provider may be silent, in seconds."""

    connect: Seconds | None = None
    first_token: Seconds | None = None
    between_tokens: Seconds | None = None
    total: Seconds | None = None


class OptionsEntry(Shape):
    """Options of a provider; the request headers are secrets and never part of a file."""

    api_version: OptionText = ""
    deployment: OptionText = ""
    uses_entra_id: bool = False
    tenant_id: OptionText = ""
    client_id: OptionText = ""
    organization: OptionText = ""
    project: OptionText = ""
    region: OptionText = ""
    proxy: Annotated[OptionText, AfterValidator(_proxy)] = ""
    ca_bundle: OptionText = ""
    client_certificate: OptionText = ""
    client_key: OptionText = ""
    streams: bool = True
    merges_messages: bool = False
    has_system_role: bool = True

    def stored(self) -> dict[str, Any]:
        return self.model_dump(exclude_defaults=True)


class ProviderEntry(Shape):
    """A provider. Its key is never part of a file."""

    name: Name
    kind: Annotated[str, AfterValidator(_known_kind)]
    base_url: Annotated[str, StringConstraints(max_length=500), AfterValidator(_usable_url)] = ""
    api_key_env: Annotated[
        str,
        StringConstraints(max_length=100),
        matching(ENVIRONMENT_NAME),
        AfterValidator(_key_variable),
    ] = ""
    timeout_s: TimeoutEntry = TimeoutEntry()
    tool_calling: Literal["native", "text"] = "native"
    options: OptionsEntry = OptionsEntry()


class CopilotEntry(CopilotConfig):
    """A copilot with its test questions; without `questions` the stored ones stay."""

    questions: Annotated[list[TestCaseEntry], Field(max_length=MAX_TEST_CASES)] | None = None

    def document(self) -> dict[str, Any]:
        """Return the versioned part, like `publishing.document_of`, with the image of the file."""
        return {field.key: to_stored(getattr(self, field.key)) for field in VERSIONED_FIELDS}

    def live_settings(self) -> dict[str, Any]:
        return {field.key: to_stored(getattr(self, field.key)) for field in LIVE_FIELDS}


class CopilotFile(Shape):
    # A literal is whatever equals it: true and 1.0 as well.
    format: Annotated[int, Field(ge=FORMAT, le=FORMAT)]
    providers: list[ProviderEntry] = []
    copilots: list[CopilotEntry] = []

    @field_validator("providers")
    @classmethod
    def _each_provider_once(cls, rows: list[ProviderEntry]) -> list[ProviderEntry]:
        refuse_repeated([row.name.lower() for row in rows], what=_("provider name"))
        return rows

    @field_validator("copilots")
    @classmethod
    def _each_copilot_once(cls, rows: list[CopilotEntry]) -> list[CopilotEntry]:
        refuse_repeated([row.slug for row in rows], what=_("slug"))
        refuse_repeated([row.name.lower() for row in rows], what=_("copilot name"))
        return rows


def validate(value: Any) -> CopilotFile:
    """Parse the plain values of a file; raises `BadCopilotFile` with every error."""
    try:
        return CopilotFile.model_validate(value)
    except ValidationError as error:
        raise BadCopilotFile(read_errors(error)) from error
