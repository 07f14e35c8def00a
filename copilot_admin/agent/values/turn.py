"""The current turn of a conversation: everything since the user last spoke."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from protocol.functions import WIDGET_DATA_FUNCTIONS, DataSource, data_sources
from protocol.models import (
    CallMessage,
    HumanMessage,
    Message,
    Query,
    ResultMessage,
    SourceData,
    SourceError,
    SourceResult,
    Widget,
    Widgets,
    is_upload,
)

UPLOAD_FEATURE = "file-upload"


@dataclass(frozen=True, slots=True)
class Fetched:
    """Result of a client for one source, and its widget."""

    source: DataSource
    result: SourceResult
    widget: Widget | None

    @property
    def ref(self) -> str:
        """The uuid of the widget, else its origin and id."""
        return self.widget.ref if self.widget else self.source.ref


def is_uploaded(widget: Widget) -> bool:
    return is_upload(origin=widget.origin, id=widget.widget_id)


def messages_of_turn(query: Query) -> tuple[Message, ...]:
    """Return the messages after the latest human message, or all of them without one."""
    for index in range(len(query.messages) - 1, -1, -1):
        if isinstance(query.messages[index], HumanMessage):
            return query.messages[index + 1 :]
    return query.messages


def may_call_client(query: Query) -> bool:
    return bool(
        query.widgets
        or query.tools
        or query.skills_catalog
        or query.workspace_state
        or query.workspace_options
    )


def client_calls(query: Query) -> Counter[str]:
    """Count the calls of each client function in this turn."""
    turn = messages_of_turn(query)
    if not turn:  # with every new question
        return Counter()
    calls = Counter(one.function for one in turn if isinstance(one, CallMessage))
    results = Counter(one.function for one in turn if isinstance(one, ResultMessage))
    return calls | results  # the larger number of each: a client may drop either half of a pair


def data_results(query: Query, *, before_last: bool = False) -> int:
    """Count the results of this turn, or of all its messages but the last, that contain data.

    An error of a source is data too: a client forwards texts of a server.
    """
    turn = messages_of_turn(query)
    return sum(
        any(isinstance(one, SourceData | SourceError) for one in message.data)
        for message in (turn[:-1] if before_last else turn)
        if isinstance(message, ResultMessage)
    )


def fetched_in_turn(query: Query) -> tuple[Fetched, ...]:
    """Return the results of all widget sources in this turn, in order, errors included."""
    return fetched_in(messages_of_turn(query), widgets=query.widgets)


def fetched_in(messages: Sequence[Message], *, widgets: Widgets) -> tuple[Fetched, ...]:
    results = (one for one in messages if isinstance(one, ResultMessage))
    data = (one for one in results if one.function in WIDGET_DATA_FUNCTIONS)
    return tuple(fetched for one in data for fetched in fetched_by(one, widgets=widgets))


def fetched_by(message: ResultMessage, *, widgets: Widgets) -> Iterator[Fetched]:
    """Pair the elements of a result with the sources of its call, in order."""
    sources = data_sources(message.input_arguments)
    found = zip(sources, widgets_of(sources, widgets=widgets), strict=True)
    for pair, result in zip_longest(found, message.data):
        if result is not None:
            source, widget = pair or (DataSource(), None)
            yield Fetched(source, result, widget)


def widgets_of(sources: Sequence[DataSource], *, widgets: Widgets) -> tuple[Widget | None, ...]:
    """Return the offered widget of each source: by its uuid, else by origin and id."""
    first = tuple(reversed(widgets.all())) if sources else ()  # the first of equal names counts
    by_uuid = {widget.uuid: widget for widget in first if widget.uuid}
    by_id = {(widget.origin, widget.widget_id): widget for widget in first if widget.widget_id}
    return tuple(
        by_uuid.get(source.widget_uuid or "") or by_id.get((source.origin, source.id))
        for source in sources
    )
