"""Readers of untrusted text need linear time: a quadratic one would block the event loop.

Each reader has the texts that cost it most: a start, a piece that is repeated, and an end. The CPU time
of two sizes, eight times apart, is compared: a line has a ratio of 8, a square of 64.
"""

from collections.abc import Callable
from contextlib import suppress
import re
from time import thread_time

import pytest

from copilot_admin.agent.prompt import placeholders
from copilot_admin.agent.toolkits import markdown_images, ranking
from copilot_admin.agent.tools import html
from protocol import citations, plain_text, redaction, sse, strict_json
from protocol.components import manifests

Reader = Callable[[str], object]
SIZES = (1_000, 8_000)
MAX_RATIO = 20.0
ATTEMPTS = 20  # a busy machine spoils some
MIN_SECONDS = 0.002  # of one measurement
READERS: dict[str, tuple[Reader, tuple[tuple[str, str, str], ...]]] = {
    "artifact markers": (
        lambda text: (citations.strip_markers(text), citations.artifact_names(text)),
        (('<artifact className="', "a", ""), ("", "<artifact ", ""), ("", "{{", "")),
    ),
    "HTML as plain text": (
        plain_text.html_text,
        (("", "<br", ""), ("", "<", ""), ("", "&", ""), ("<a ", " ", ""), ("", "<!--", "")),
    ),
    "markdown tables": (
        lambda text: plain_text.markdown_table([{"a": text}]),
        (("", "\r\n", ""), ("", "|", "")),
    ),
    "secrets": (
        redaction.redact_text,
        (("", "a://", ""), ("", "sk-", ""), ("", "Bearer ", ""), ("a://", "a", ""), ("", "@", "")),
    ),
    "server-sent events": (
        lambda text: list(sse.decode(text.encode())),
        (("data: ", "x", ""), ("", "data: x\n", ""), ("", "\r", ""), ("", "data:\n\n", "")),
    ),
    "JSON": (
        lambda text: strict_json.loads(text.encode()),
        (
            ("", "[", ""),
            ("", '{"a":', ""),
            ('"', "\\u0000", '"'),
            ('["', '","', '"]'),
            ("", "1", ""),
        ),
    ),
    "docstrings of components": (
        manifests.argument_descriptions,
        (("Args:\n    a", " ", ""), ("Args:\n", "    a: b\n", ""), ("", "\n", "")),
    ),
    "styles": (
        html.filter_style,
        (("color:", "-", ""), ("", "a:b;", ""), ("color:", "(", ""), ("color:", "/*", "")),
    ),
    "placeholders": (
        lambda text: (placeholders.unknown_placeholders(text), placeholders.find_unclosed(text)),
        (("", "{{", ""), ("{{", " ", ""), ("", "{{ ", ""), ("", "{{a}}", "")),
    ),
    "words for ranking": (
        ranking.terms_of,
        (("a", "\u0301\u0316", ""), ("", "a ", ""), ("", "1.", "")),
    ),
    "remote images": (
        lambda text: markdown_images.without_remote_images(text, sources=()),
        (("", "![", ""), ("", "`![", ""), ("", "<img", ""), ("", "![a](data:image/", "")),
    ),
}
CASES = [(name, *worst) for name, (_, texts) in READERS.items() for worst in texts]


def cpu_seconds(read: Reader, text: str) -> float:
    """Return the CPU time of one reading."""
    readings, began = 0, thread_time()
    while (spent := thread_time() - began) < MIN_SECONDS or not readings:
        with suppress(ValueError, RecursionError):  # a refusal is an answer too
            read(text)
        readings += 1
    return spent / readings


def is_linear(read: Reader, start: str, piece: str, end: str) -> bool:
    small, large = (start + piece * (size // len(piece)) + end for size in SIZES)
    return any(
        cpu_seconds(read, large) <= MAX_RATIO * cpu_seconds(read, small) for _ in range(ATTEMPTS)
    )


@pytest.mark.parametrize(("reader", "start", "piece", "end"), CASES)
def test_eight_times_the_text_costs_about_eight_times_as_much(reader, start, piece, end):
    assert is_linear(READERS[reader][0], start, piece, end)


def test_a_quadratic_expression_is_found():
    assert not is_linear(re.compile("a*b").findall, "", "a", "")
