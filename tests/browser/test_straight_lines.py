"""Scripts read texts in straight lines too: twice the text costs twice as much, and no more.

A tab that stands still takes with it what was typed there. Every expression of our scripts is in the list
below, with what a text has to begin with to be read at all; a new one joins it. Each is tried in the
browser with many texts that repeat a piece, and the one that took longest is measured in two sizes, eight
times apart: a straight line has 8, the limit is 2.5 for each doubling, a square has 64. What seems too
much is measured again, and the least counts.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, Route
import pytest

from tests.browser.expressions import expressions_in

pytestmark = pytest.mark.browser
SCRIPTS = Path(__file__).parents[2] / "copilot_admin" / "static" / "copilot_admin" / "js"
ANYHOW = ("",)
EXPRESSIONS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "component-trial.js": {r"/^event: (\w+)\ndata: (.*)$/s": ("event: ", "event: a\ndata: ")},
    "length-check.js": {
        r"/[\ud800-\udfff]/": ANYHOW,
        r"/[^\0-\xff]/": ANYHOW,
        r"""/[&<>"']/g""": ANYHOW,
    },
    "placeholders.js": {r"/\s/": ANYHOW, r"/`+|\n[ \t\r]*\n/g": ("", "\n")},
    "plain-text.js": {r"/\p{M}/gu": ANYHOW},
    "playground/again.js": {r"/^(\d+)\/(\d+)$/": ("", "1/")},
    "playground/pdf.js": {r"/[\\()]/g": ANYHOW},
    "playground/stream.js": {r"/^(event|data): ?(.*)$/": ("", "data: ")},
    "playground/typed-lists.js": {
        r'new RegExp(`(${quoted}|[^${separator}\\n]*)(${separator}|\\n|$)`, "g")': ("", '"', '""'),
        r"/^[-+]?\d+(\.\d+)?(e[-+]?\d+)?$/i": ("", "1.", "1e"),
        r"/^[-+]?\d{1,3}(,\d{3})+(\.\d+)?$/": ("", "1,000,", "1,000."),
        r"/^[-+]?\d+,\d+$/": ("", "1,"),
        r"/^([^\s:]+)\s*(?::\s*(.*))?$/": ("", "a", "a ", "a:"),
        r"/^[[{]/": ANYHOW,
    },
    "playground/workspace.js": {r"/\W+/g": ANYHOW},
    "prompt.js": {
        r"/^\{\{/": ANYHOW,
        r"/\}\}$/": ANYHOW,
        r"/[^\w\s-]/g": ANYHOW,
        r"/[-\s]+/g": ANYHOW,
        r"/^[-_]+|(?<![-_])[-_]+$/g": ("", "a"),
    },
    "romanized.js": {r"/\p{M}/gu": ANYHOW},
    "rows.js": {r'new RegExp(`${prefix}-\\d+-`, "g")': ("", "form", "form-")},
    "schema-form.js": {r"/\n/": ANYHOW, r"/^#\/?/": ("", "#")},
    "slug.js": {r"/[^a-z0-9]+/g": ANYHOW, r"/^-+/": ANYHOW, r"/(?<!-)-+$/": ("", "a")},
    "transcript.js": {r"/^#turn-(\d+)$/": ("", "#turn-")},
}
# As they are when they meet a text.
MADE = {
    r'new RegExp(`(${quoted}|[^${separator}\\n]*)(${separator}|\\n|$)`, "g")': (
        r'/("(?:[^"]|"")*"|[^,\n]*)(,|\n|$)/g'
    ),
    r'new RegExp(`${prefix}-\\d+-`, "g")': r"/form-\d+-/g",
}
READERS = {
    "placeholders.js": ("placeholdersIn",),
    "plain-text.js": ("plain",),
    "playground/pdf.js": (),  # of lines of our own
    "playground/typed-lists.js": ("rowsIn", "skillsIn", "toolsIn"),
}
PIECES = [
    *(
        "a",
        "1",
        " ",
        "\t",
        "\n",
        "-",
        "_",
        ",",
        ".",
        ":",
        "/",
        "`",
        '"',
        "'",
        "(",
        "{",
        "}",
        "&",
        "ß",
    ),
    *(
        "\u0301",
        "a ",
        "a-",
        "1,",
        '",',
        '"",',
        '"a",',
        "\n ",
        "\n\n",
        "`\n",
        "{{ ",
        "}}",
        " }",
        "a: b\n",
    ),
    *("000,", "form-", "form-1", "😀", "\ud800"),
]
ENDS = ["", "!", "\n!"]
# What takes longest of many texts is measured in two sizes.
MEASURE = """async ({ readers, pieces, ends }) => {
  const SMALL = 2000, LARGE = 16000, MOST = 2.5 ** 3, TRIES = 5;
  const NO_SQUARE_MS = 5; // a square of so many characters takes a tenth of a second

  function textOf({ start, piece, end }, size) {
    return start + piece.repeat(size / piece.length) + end;
  }

  // Of one text the browser may remember what came of it, so each reading is of another one.
  function milliseconds(read, text, size) {
    const fresh = textOf(text, size);
    const began = performance.now();
    read(fresh);
    return performance.now() - began;
  }

  function worstOf(read, starts) {
    let worst = { cost: -1 };
    for (const start of starts) for (const piece of pieces) for (const end of ends) {
      const cost = milliseconds(read, { start, piece, end }, LARGE);
      worst = cost > worst.cost ? { start, piece, end, cost } : worst;
    }
    return worst;
  }

  function growsTooFast(read, text) {
    let small = Infinity, large = Infinity;
    for (let tried = 0; tried < TRIES; tried += 1) {
      large = Math.min(large, milliseconds(read, text, LARGE));
      if (large <= NO_SQUARE_MS) {
        return false;
      }
      small = Math.min(small, milliseconds(read, text, SMALL));
    }
    return large > MOST * small;
  }

  async function readerOf({ expression, script, name }) {
    if (script) {
      return (await import(`/${script}`))[name];
    }
    const { source, flags } = new Function(`return ${expression}`)();
    const made = new RegExp(`(?=[^]?)(?:${source})`, flags); // no shortcut that only this browser knows
    return (text) => text.replace(made, "");
  }

  const found = [];
  for (const one of readers) {
    const read = await readerOf(one);
    const worst = worstOf(read, one.starts);
    if (growsTooFast(read, worst)) {
      found.push([one.expression ?? one.name, worst.start, worst.piece, worst.end]);
    }
  }
  return found;
}"""


def serve(route: Route) -> None:
    """Gives the page a script of ours, or nothing to look at."""
    file = SCRIPTS / route.request.url.removeprefix("http://scripts.test/")
    if file.is_file():
        route.fulfill(body=file.read_text(), content_type="text/javascript")
    else:
        route.fulfill(body="<!doctype html>", content_type="text/html")


def too_fast(page: Page, *readers: Mapping[str, Any], pieces: list[str]) -> list[list[str]]:
    """Which of some readers cost more than they should, and with which text."""
    page.route("**/*", serve)
    page.goto("http://scripts.test/")
    asked = {"readers": list(readers), "pieces": pieces, "ends": ENDS}
    found: list[list[str]] = page.evaluate(MEASURE, asked)
    return found


def test_twice_the_text_costs_an_expression_at_most_two_and_a_half_times_as_much(
    page: Page,
) -> None:
    readers = [
        {"expression": MADE.get(expression, expression), "starts": starts}
        for listed in EXPRESSIONS.values()
        for expression, starts in listed.items()
    ]
    assert too_fast(page, *readers, pieces=PIECES) == []


def test_and_so_what_reads_texts_by_hand(page: Page) -> None:
    readers = [
        {"script": script, "name": name, "starts": ("", "a,b\n")}
        for script, names in READERS.items()
        for name in names
    ]
    assert too_fast(page, *readers, pieces=[*PIECES[:-1], "[", '{"a":', "``` {{"]) == []


def test_a_square_is_found(page: Page) -> None:
    square = {"expression": "/-+$/", "starts": ANYHOW}
    assert [one[0] for one in too_fast(page, square, pieces=["-"])] == ["/-+$/"]


def test_every_expression_is_in_the_list() -> None:
    found = {
        file.relative_to(SCRIPTS).as_posix(): sorted(expressions_in(file.read_text()))
        for file in SCRIPTS.rglob("*.js")
    }
    assert {name: some for name, some in found.items() if some} == {
        name: sorted(some) for name, some in EXPRESSIONS.items()
    }


@pytest.mark.parametrize(
    ("script", "found"),
    [
        ("a = b / c / d; e = (f) / g / h; i[0] / 2 / 3", []),
        ("const a = /b\\/[/]c/g, d = /e/;", ["/b\\/[/]c/g", "/e/"]),
        ("return /a/.test(b) ? /c/ : /d/i; // /e/\n/* /f/ */ /g/", ["/a/", "/c/", "/d/i", "/g/"]),
        (
            """x("/a/", '/b/', `/c/ ${d.match(/e/)} /f/ ${ {g: `${/h/}`} }`, /i/)""",
            ["/e/", "/h/", "/i/"],
        ),
        ('new RegExp("a+", "g")', ['new RegExp("a+", "g")']),
    ],
)
def test_expressions_are_told_from_what_divides(script: str, found: list[str]) -> None:
    assert list(expressions_in(script)) == found
