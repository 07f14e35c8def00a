"""HTML as a model may be talked into writing it, and whether anything of it would load or ask."""

from html.parser import HTMLParser
from random import Random

REMOTE = "http://127.0.0.1:9/seen"  # nothing listens there
_FORBIDDEN_TAGS = frozenset(
    {
        "script",
        "iframe",
        "frame",
        "object",
        "embed",
        "form",
        "input",
        "button",
        "textarea",
        "select",
    }
    | {"link", "meta", "base", "style", "svg", "math", "video", "audio", "source", "template"}
)
_LOADS = ("src", "srcset", "background", "poster", "data", "action", "formaction", "ping")
_PIECES = (
    '<img src="{remote}?q=secret">',
    "<img srcset='{remote} 2x' src=x onerror=alert(1)>",
    '<IMG SRC="{remote}">',
    '<form action="{remote}"><input name=q><button>Go</button></form>',
    '<div style="background:url({remote})">x</div>',
    '<div style="background-image:\\75rl({remote})">x</div>',
    "<style>@import '{remote}';</style>",
    '<link rel=stylesheet href="{remote}">',
    '<meta http-equiv=refresh content="0;url={remote}">',
    '<svg><image href="{remote}"/><script>alert(1)</script></svg>',
    '<iframe src="{remote}"></iframe>',
    '<object data="{remote}"></object>',
    '<a href="javascript:alert(1)" ping="{remote}">x</a>',
    '<a href="data:text/html,<script>alert(1)</script>">x</a>',
    '<video poster="{remote}"><source src="{remote}"></video>',
    '<body background="{remote}">',
    '<table background="{remote}"><tr><td>1</td></tr></table>',
    "<math><mtext><table><mglyph><style><img src={remote}>",
    "<noscript><p title='</noscript><img src={remote}>'>",
    "<p>4.5 %</p>",
    "<b>",
    "<small a={number}>",
    "<!--",
    "<![CDATA[",
    "&#x3c;img src={remote}&#x3e;",
    "<p style='color:red' onclick='alert(1)'>text</p>",
)


def drawn_html(random: Random, *, size: int) -> str:
    """Pieces in any order, cut where nobody expects it."""
    parts, length = ["<p>A card</p>"], 0
    few = random.sample(_PIECES, random.randint(1, 6)) if random.random() < 0.5 else _PIECES
    while length < size:
        part = random.choice(few).format(remote=REMOTE, number=random.getrandbits(32))
        if random.random() < 0.1:
            part = part[: random.randint(1, len(part))]
        parts.append(part)
        length += len(part)
    return "".join(parts)[:size]


def faults_in(html: str) -> list[str]:
    """What of some HTML would load something, run something or ask for something."""
    finder = _Finder()
    try:
        finder.feed(html)
        finder.close()
    except AssertionError:  # so the parser says that a marked section is none
        finder.found.append("<![")
    return finder.found


class _Finder(HTMLParser):
    """Reads as the standard library does, so not with the parser that cleaned it."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _FORBIDDEN_TAGS:
            self.found.append(f"<{tag}>")
        for name, value in attrs:
            text = "".join((value or "").split()).lower()
            loads = name in _LOADS and not (tag == "img" and text.startswith("data:image/"))
            runs = name.startswith("on") or text.startswith(("javascript:", "vbscript:", "data:t"))
            asks = name == "style" and ("url(" in text or "\\" in text or "import" in text)
            if loads or runs or asks:
                self.found.append(f"<{tag} {name}={(value or '')[:60]!r}>")

    handle_startendtag = handle_starttag
