"""From the parameters and rows of a chart to a drawing."""

from collections.abc import Sequence
from functools import partial

from copilot_admin.rendering.charts.cartesian import bars, lines, scatter
from copilot_admin.rendering.charts.circular import ring
from copilot_admin.rendering.charts.scene import DrawnChart
from protocol.json import Json, JsonObject, text_of

KINDS = {"line": lines, "bar": bars, "scatter": scatter}


def chart_of(
    params: JsonObject, rows: Sequence[JsonObject], *, from_zero: bool = False
) -> DrawnChart | None:
    """Draws a chart.

    Args:
        params: `chart_params` of the artifact: `{chartType, xKey, yKey}`, for pie and donut
            `{chartType, angleKey, calloutLabelKey}`.
        rows: The data.
        from_zero: Whether lines show how far they are from zero, as bars always do.

    Returns:
        None when the parameters name no chart of these rows, or there is no number in them.
    """
    kind = params.get("chartType")
    if kind in ("pie", "donut"):
        label, value = text_of(params.get("calloutLabelKey")), text_of(params.get("angleKey"))
        return ring(rows, label_key=label, value_key=value, is_donut=kind == "donut")
    draw = KINDS.get(kind) if isinstance(kind, str) else None
    if draw is lines:
        draw = partial(lines, from_zero=from_zero)
    y_keys = _keys(params.get("yKey"))
    if draw is None or not y_keys:
        return None
    return draw(rows, x_key=text_of(params.get("xKey")), y_keys=y_keys)


def _keys(value: Json) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, Sequence):
        return ()
    return tuple(dict.fromkeys(key for key in value if isinstance(key, str)))
