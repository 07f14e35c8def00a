"""Prepared answers of the demo model: text, a chart and a table of sample data, and sources."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
import re
from typing import Any

import yaml

from protocol.json import JsonObject

LABEL = "*Demo answer from sample data. No language model was used.*"
_FILE = Path(__file__).parents[2] / "samples" / "demo_answers.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleWidget:
    """A widget that a demo answer reads and cites."""

    name: str
    description: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str | int | float]]

    def to_rows(self) -> list[JsonObject]:
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoAnswer:
    """A prepared answer; its first widget is drawn and listed, and all are cited."""

    topics: frozenset[str]  # terms of matching questions
    widgets: Sequence[SampleWidget]
    opening: str  # text before the chart and the table
    closing: str
    follow_ups: Sequence[str]  # suggested next questions; each has a prepared answer
    chart: Mapping[str, Any] | None = None  # type, x and y
    has_table: bool = False

    @property
    def table_arguments(self) -> JsonObject:
        """Arguments of the table tool, and of the chart tool together with the `chart`."""
        widget = self.widgets[0]
        return {"name": widget.name, "description": widget.description, "rows": widget.to_rows()}

    @property
    def markdown_table(self) -> str:
        """The rows as Markdown, for a copilot without the table tool."""
        widget = self.widgets[0]
        lines = [widget.columns, ["---"] * len(widget.columns), *widget.rows]
        return "\n".join(f"| {' | '.join(map(str, cells))} |" for cells in lines)


def find_demo_answer(question: str, *, role: str) -> DemoAnswer | None:
    """Return the answer that matches a question: two of its topics, or one that the role shares."""
    words, role_words = _find_terms(question), _find_terms(role)

    def rate(answer: DemoAnswer) -> int:
        return 2 * len(words & answer.topics) + bool(role_words & answer.topics)

    best = max(DEMO_ANSWERS, key=rate)
    return best if rate(best) >= 3 else None


def suggest_questions(role: str) -> Sequence[str]:
    """Return questions that have a prepared answer and match the role of a copilot."""
    words = _find_terms(role)
    return max(DEMO_ANSWERS, key=lambda answer: len(words & answer.topics)).follow_ups


def _find_terms(text: str) -> set[str]:
    return set(re.findall("[a-z]+", text.lower()))


def _read_answers() -> Sequence[DemoAnswer]:
    file = yaml.safe_load(_FILE.read_text("utf-8"))
    widgets = {key: SampleWidget(**row) for key, row in file["widgets"].items()}
    answers = []
    for row in file["answers"]:
        row["topics"] = frozenset(row["topics"].split())
        row["widgets"] = [widgets[key] for key in row["widgets"]]
        answers.append(DemoAnswer(**row))
    return answers


DEMO_ANSWERS = _read_answers()
