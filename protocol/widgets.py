"""The widgets a client offers, as frozen values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from protocol.json import Json, JsonObject


class Undefined(Enum):
    """A value that the client did not give, as opposed to one it gave as null."""

    UNDEFINED = "<<UNDEFINED>>"


UNDEFINED = Undefined.UNDEFINED
_UPLOADS = "OpenBB Hub"  # the origin of attached files
_UPLOAD = "file-"


def is_upload(*, origin: str, id: str) -> bool:
    """Whether the widget that is called so is a file that somebody attached to a question."""
    return origin == _UPLOADS and id.startswith(_UPLOAD)


@dataclass(frozen=True, slots=True, kw_only=True)
class WidgetParam:
    """One parameter of a widget and the values it has on the dashboard."""

    name: str
    type: str = "string"
    description: str = ""
    current_value: "Json | Undefined" = UNDEFINED
    executed_value: "Json | Undefined" = UNDEFINED
    default_value: "Json | Undefined" = UNDEFINED
    options: tuple[Json, ...] = ()
    multi_select: bool = False
    split_on_citation: bool = False
    get_options: bool = False
    options_params: tuple[JsonObject, ...] = ()

    @property
    def value(self) -> "Json | Undefined":
        """The value to ask with: current, else executed, else default."""
        for value in (self.current_value, self.executed_value, self.default_value):
            if value is not UNDEFINED:
                return value
        return UNDEFINED


@dataclass(frozen=True, slots=True, kw_only=True)
class Widget:
    """A widget as any generation describes it; generation 1 knows only uuid and texts."""

    origin: str = ""
    widget_id: str = ""
    uuid: str | None = None
    name: str = ""
    description: str = ""
    params: tuple[WidgetParam, ...] = ()
    metadata: JsonObject = field(default_factory=dict)
    source: str | None = None
    category: str | None = None
    sub_category: str | None = None
    columns: tuple[str, ...] = ()

    @property
    def ref(self) -> str:
        """The id under which the model knows the widget: its uuid, else `origin/widget_id`."""
        return self.uuid or f"{self.origin}/{self.widget_id}"

    def input_args(self) -> Mapping[str, Json]:
        """The arguments to fetch the widget with; parameters without a value are left out."""
        values = ((param.name, param.value) for param in self.params)
        return {name: value for name, value in values if not isinstance(value, Undefined)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Widgets:
    """The offered widgets: selected (primary), on the dashboard (secondary), all others (extra)."""

    primary: tuple[Widget, ...] = ()
    secondary: tuple[Widget, ...] = ()
    extra: tuple[Widget, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.primary or self.secondary or self.extra)

    def all(self) -> tuple[Widget, ...]:
        """Every offered widget, the selected ones first."""
        return self.primary + self.secondary + self.extra
