"""Charts as geometry: what is drawn where. A template turns it into SVG."""

from copilot_admin.rendering.charts.chart import chart_of
from copilot_admin.rendering.charts.scene import DrawnChart, DrawnShape

__all__ = ["DrawnChart", "DrawnShape", "chart_of"]
