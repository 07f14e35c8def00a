"""The client functions of the protocol and their widgets."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from protocol.json import Json, JsonObject, object_of, text_of

GET_WIDGET_DATA = "get_widget_data"
GET_SKILL_CONTENT = "get_skill_content"
EXECUTE_AGENT_TOOL = "execute_agent_tool"
WIDGET_DATA_FUNCTIONS = frozenset({GET_WIDGET_DATA, "get_extra_widget_data"})


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSource:
    """One widget to fetch, with the arguments to fetch it with."""

    widget_uuid: str | None = None
    origin: str = ""
    id: str = ""
    input_args: Mapping[str, Json] = field(default_factory=dict)

    @property
    def ref(self) -> str:
        """The uuid of the widget, else its origin and id."""
        return self.widget_uuid or f"{self.origin}/{self.id}"

    def to_json(self) -> dict[str, Json]:
        """Return the member of `data_sources` that names it; an unknown uuid is left out."""
        uuid: dict[str, Json] = {"widget_uuid": self.widget_uuid} if self.widget_uuid else {}
        return {**uuid, "origin": self.origin, "id": self.id, "input_args": dict(self.input_args)}


def get_widget_data_call(sources: Iterable[DataSource]) -> dict[str, Json]:
    """Return the `input_arguments` of a `get_widget_data` call for these sources."""
    return {"data_sources": [source.to_json() for source in sources]}


def data_sources(input_arguments: JsonObject) -> tuple[DataSource, ...]:
    """Return the sources of a call or its result, in the order of the result's elements.

    Generations 2 and 3 name `data_sources`, generation 1 one `widget_uuid`; chats that the client
    migrated from an older version name a list of `widget_uuids`.
    """
    match input_arguments:
        case {"data_sources": [*sources]}:
            return tuple(_source(object_of(one)) for one in sources)
        case {"widget_uuid": str(uuid)}:
            return (DataSource(widget_uuid=uuid),)
        case {"widget_uuids": [*uuids]}:
            return tuple(DataSource(widget_uuid=text_of(uuid) or None) for uuid in uuids)
    return ()


def _source(raw: JsonObject) -> DataSource:
    """Read one source; an invalid one becomes an empty source so that indexes don't shift."""
    return DataSource(
        widget_uuid=text_of(raw.get("widget_uuid")) or None,
        origin=text_of(raw.get("origin")),
        id=text_of(raw.get("id")) or text_of(raw.get("widget_id")),
        input_args=object_of(raw.get("input_args")),
    )
