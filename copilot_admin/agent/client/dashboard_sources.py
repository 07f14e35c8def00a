"""The widgets that a model names for the dashboard, in the words of Workspace's own functions."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from copilot_admin.agent.client.call_size import MOST_SOURCES
from copilot_admin.agent.client.named_widgets import NamedWidgets
from copilot_admin.agent.client.widget_data import source_for
from copilot_admin.agent.toolkits.markdown_images import without_remote_images
from copilot_admin.agent.toolkits.texts_within import changed_value
from protocol.functions import DataSource
from protocol.json import Json
from protocol.widgets import Widget

INNER_TAB = "inner_tab"  # stands among a widget's arguments, though it is none of them


class WantedSource(BaseModel):
    """One widget with its arguments."""

    model_config = ConfigDict(extra="ignore")

    widget_uuid: str | None = Field(default=None, description="Its id, exactly as listed.")
    origin: str = ""
    id: str = Field(default="", description="Its widget id, where it is listed as origin/id.")
    input_args: dict[str, JsonValue] = Field(
        default_factory=dict, description="Parameters that differ from the listed values."
    )

    @property
    def ref(self) -> str:
        """What the model calls the widget: its uuid, else origin and id."""
        return self.widget_uuid or (f"{self.origin}/{self.id}" if self.origin else self.id)


WantedSources = Annotated[Sequence[WantedSource], Field(min_length=1, max_length=MOST_SOURCES)]


def resolved(
    wanted: WantedSource, *, widgets: NamedWidgets, sources: Collection[str]
) -> tuple[Widget, DataSource]:
    """The widget that is meant, and the source that Workspace is given.

    Args:
        wanted: As the model named it.
        widgets: That the request lists.
        sources: Origins from which the builder allows images: a note shows its text as Markdown.

    Raises:
        ToolMistake: No such widget is listed, or it has no such parameter.
    """
    args: Mapping[str, Json] = {
        name: changed_value(
            value, partial(without_remote_images, sources=() if name == INNER_TAB else sources)
        )
        for name, value in wanted.input_args.items()
    }
    params = {name: value for name, value in args.items() if name != INNER_TAB}
    widget = widgets.find(wanted.ref, params=params)
    return widget, source_for(widget, params=args)
