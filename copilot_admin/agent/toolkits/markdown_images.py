"""Removal of remote images from Markdown while it streams: they become links.

A client loads an image by itself and so sends its address to a server; a model writes addresses as
the data that it reads tells it to. `![` becomes `[`, unless the image is allowed or stands in code.
HTML tags that load become text: by an entity in an answer, which a client renders, and by a blank
in other texts, which it may show as they are. Comparisons such as `a<b` and types such as `Map<String>`
stay as they are: of what follows a `<`, only attributes that load or run lose their `=`.
"""

from collections.abc import Collection
import re

MAX_HELD = 2_000  # characters of an image that may be allowed, or of code, until its end is there
# Also without attributes: they send or run, or begin text that is read by other rules.
_NEVER = re.compile(
    r"button|dialog|form|frameset|iframe|img|input|math|meta|noembed|noframes|noscript|plaintext"
    r"|portal|script|select|style|svg|template|textarea|title|xmp",
    re.IGNORECASE,
)
# With attributes; without, a type such as `List<Object>` may be meant.
_LOADING_TAG = re.compile(
    rf"{_NEVER.pattern}|audio|base|body|embed|frame|image|link|object|picture|source|table|track|video",
    re.IGNORECASE,
)
_LOADING_ATTRIBUTE = re.compile(
    r"(?<![\w:.-])(?:style|on[a-z]+|src|srcset|srcdoc|href|background|poster|data|action|formaction"
    r"|ping|content|lowsrc|dynsrc|xlink:href)\s*\Z",
    re.IGNORECASE,
)
_MARK = re.compile(r"!\[|<(?=[a-z!/?])", re.IGNORECASE)
_MARK_OR_EQUALS = re.compile(r"!\[|<(?=[a-z!/?])|=", re.IGNORECASE)
_TAG_NAME = re.compile(r"<([a-z][^\s/>]{0,50})", re.IGNORECASE)
_PLAIN_TAG = re.compile(r"<[a-z][a-z0-9-]{0,50}+\s*+/?>", re.IGNORECASE)
# No address in which a browser that takes it for a tag would see such an attribute.
_IN_ADDRESS = r"[^\s<>\"'`\[\\]"
_ADDRESS = re.compile(
    rf"<(?:https?:(?:(?!/(?:style|on[a-z]*+)=){_IN_ADDRESS})*+|(?:mailto:)?[\w.+-]++@[\w.-]++)>",
    re.IGNORECASE,
)
_UNFINISHED_ADDRESS = re.compile(rf"<(?:https?:|mailto:){_IN_ADDRESS}*+\Z", re.IGNORECASE)
_UNFINISHED_TAG = (
    _UNFINISHED_ADDRESS,
    re.compile(r"<[a-z][a-z0-9-]{0,50}+\s*+/?\Z", re.IGNORECASE),
    re.compile(rf"<[\w.+-]++@{_IN_ADDRESS}*+\Z", re.IGNORECASE),
    re.compile(r"<[\w.+-]{1,100}+\Z"),
)
_IMAGE = re.compile(
    r"!\[[^\[\]\\\n\r`<!|$]{0,500}+\]\((?P<address>[^\s()<>\\\[\]`|$]{1,1500}+)"
    r"(?: \"[^\"\\\n\r`<|$]{0,200}+\")?\)"
)
_DATA_IMAGE = re.compile(
    r"!\[[^\[\]\\\n\r`<!|$]{0,500}+\]\(data:image/[a-z0-9.+-]{1,50}+;base64,[A-Za-z0-9+/=]*+\)"
)
_DATA_PREFIX = "data:image/"
_FENCE = re.compile(r"(?P<fence>`{3,}+|~{3,}+)(?P<rest>[^\n\r]*+)")
_BOM = "\ufeff"  # some readers take it for a blank, or leave it out where a text begins
_LINE_MARKS = rf"[\s{_BOM}>*+\-\d.)#|]*+"  # of quotes, lists, headings and tables
_LINE_START = re.compile(rf"{_LINE_MARKS}\Z")
_ODD_LINE = re.compile(
    rf"{_LINE_MARKS}(?:<|\$\$|`{{3}}|~{{3}})"
)  # HTML, mathematics, nested fences
_HTML_LINE = re.compile(rf"{_LINE_MARKS}<[a-zA-Z!/?]")
_BLANKS = " \t"  # what all readers take for one; only some do so with other spaces
_TICKS = re.compile(r"`+")
_DOUBTFUL = frozenset("<|$\\\r")  # HTML, tables, mathematics and escapes are read before code
_DOUBTFUL_IN_CODE = _DOUBTFUL - {"<"}
_NOT_IN_ALT = frozenset("[]\\`<!|$")
_NOT_IN_ADDRESS = frozenset("()<>\\[]`|$")
_MAX_HEAD = 500  # characters
_MAX_CODE = 300  # from an image to the backticks behind it
_SHORT = 100  # characters that ordinary images have
_TAIL = 60  # characters in which the name of an attribute stands


class MarkdownImages:
    """The text of one answer on its way to the client."""

    def __init__(self, sources: Collection[str] = (), *, less_than: str = "&lt;") -> None:
        """Begin a text.

        Args:
            sources: Origins from which images may be loaded, such as "https://charts.example.com".
            less_than: Replaces the first sign of a tag that loads.
        """
        self._less_than = less_than
        self._allowed = (_DATA_PREFIX, *(f"{source}/" for source in sources))
        self._held = ""
        self._next_look = 0  # length of the held text from which it is worth another look
        self._passed: list[str] = []  # passed on and not yet read by `_code`
        self._code = _CodeReader()

    def feed(self, text: str) -> str:
        """Take the next piece and return what may be sent by now."""
        if not self._held and not self._code.has_tag and "!" not in text and "<" not in text:
            self._passed.append(text)
            return text
        self._held += text
        if len(self._held) < self._next_look and "\n" not in text and ")" not in text:
            return ""
        return self._filter(self._held, is_end=False)

    def end(self) -> str:
        """Return the rest of the text."""
        return self._filter(self._held, is_end=True) if self._held else ""

    def _filter(self, text: str, *, is_end: bool) -> str:
        sent: list[str] = []
        start = self._next_look = 0
        while found := (_MARK_OR_EQUALS if self._code.has_tag else _MARK).search(text, start):
            self._pass(text[start : found.start()], sent)
            start = found.start()
            kept = self._length_to_keep(text, start, is_end=is_end)
            if kept is None:
                self._held = text[start:]
                # It is looked at again when it has grown by a quarter: the work stays linear.
                self._next_look = len(self._held) * 5 // 4 if len(self._held) > _SHORT else 0
                return "".join(sent)
            if not kept:
                self._pass(self._replacement(found[0]), sent)
                if found[0].startswith("<"):
                    self._passed.append("<")  # as doubtful as before
            self._pass(text[start : start + kept], sent)
            start += kept or 1
        is_cut = not is_end and text.endswith(("!", "<"), start)
        self._held = text[-1] if is_cut else ""
        self._pass(text[start : len(text) - len(self._held)], sent)
        return "".join(sent)

    def _replacement(self, mark: str) -> str:
        if mark != "![":
            return "&#61;" if mark == "=" else self._less_than
        return "\\!" if self._code.last == "!" else ""  # else the one before would make the image

    def _pass(self, text: str, sent: list[str]) -> None:
        sent.append(text)
        self._passed.append(text)

    def _length_to_keep(self, text: str, start: int, *, is_end: bool) -> int | None:
        """Return how many characters stay as they are; None: the end of the mark is missing."""
        self._code.read("".join(self._passed))
        self._passed.clear()
        mark = text[start]
        if self._code.is_in_fence or (self._code.is_escaped and mark == "!"):
            return 1
        line = text[start : start + MAX_HELD].partition("\n")[0]
        # Whether more may come that belongs to what begins here.
        is_open = not is_end and start + len(line) == len(text) and len(line) < MAX_HELD
        if ticks := self._code.open_ticks:
            length = _code_length(line, ticks=ticks, is_open=is_open)
            self._code.has_tag = self._code.has_tag or mark == "<"
            if length != 0:
                return length
        if mark == "=":
            is_loading = self._code.has_tag and _LOADING_ATTRIBUTE.search(self._code.tail)
            return 0 if is_loading else 1
        if mark == "<":
            return self._tag_length(line, is_open=is_open)
        if whole := _DATA_IMAGE.match(text, start):  # of a component, for one, in one piece
            return len(whole[0])
        return self._image_length(line, is_open=is_open)

    def _tag_length(self, line: str, *, is_open: bool) -> int | None:
        name = _TAG_NAME.match(line)
        if name is None:  # a comment or the end of a tag
            return 1
        if is_open and name.end() == len(line):
            return None
        has_attributes = line[name.end() : name.end() + 1] != ">"
        if (_LOADING_TAG if has_attributes else _NEVER).fullmatch(name[1]):
            return 0
        if found := _ADDRESS.match(line):
            return found.end()
        if not self._code.is_html:  # a tag needs valid attributes here, which a comparison has not
            if is_open and _UNFINISHED_ADDRESS.match(line):
                return None
            self._code.has_tag = True
            return 1
        if found := _PLAIN_TAG.match(line):
            return found.end()
        return None if is_open and any(one.match(line) for one in _UNFINISHED_TAG) else 0

    def _image_length(self, line: str, *, is_open: bool) -> int | None:
        image = _IMAGE.match(line)
        if image:
            return image.end() if image["address"].lower().startswith(self._allowed) else 0
        return None if is_open and self._may_be_allowed(line) else 0

    def _may_be_allowed(self, line: str) -> bool:
        alt, closed, address = line[2:].partition("](")
        if not _NOT_IN_ADDRESS.isdisjoint(address):
            return False
        if not closed:
            return not _NOT_IN_ALT.intersection(alt.removesuffix("]"))
        small = address.lower()
        return any(small.startswith(one) or one.startswith(small) for one in self._allowed)


class _CodeReader:
    """Reader that finds code in Markdown, as far as all readers of Markdown agree on it.

    Attributes:
        last: The last character of the line so far.
        has_tag: Whether something like a tag began in this paragraph.
    """

    def __init__(self) -> None:
        self._fence = ""
        self._doubt = False  # whether a reader could see code where another sees none
        self._is_first_line = True
        self._has_html = False  # a line began with HTML: what follows may be read as such
        self.has_tag = False
        self._tail = ""
        self._is_after_doubt = False  # a line before this one, in the same paragraph, left doubts
        self._begin_line()

    def _begin_line(self) -> None:
        self.last = ""
        self._head = ""  # of the line; what is longer is no fence
        self._returns = 0  # some readers end a line there
        self._ticks = ""
        self._is_doubtful = False
        self._backslashes = 0

    @property
    def is_html(self) -> bool:
        """Return whether a tag here may be part of an HTML block, of which every attribute counts."""
        starts = _LINE_START.match(self._head) or _HTML_LINE.match(self._head)
        return self._has_html or self._returns > 0 or starts is not None

    @property
    def tail(self) -> str:
        """The last characters, over the ends of lines."""
        return self._tail

    @property
    def is_in_fence(self) -> bool:
        return bool(self._fence)

    @property
    def is_escaped(self) -> bool:
        return self._backslashes % 2 == 1

    @property
    def open_ticks(self) -> str:
        """The backticks that begin code in this line; empty if readers could disagree."""
        doubt = self._doubt or self._is_after_doubt or self._is_doubtful
        return "" if doubt else self._ticks

    def read(self, text: str) -> None:
        """Read the next part of a text, which doesn't end within backticks."""
        self._tail = (self._tail + text)[-_TAIL:]
        first, *others = text.split("\n")
        self._read_part(first)
        for part in others:
            self._end_line(self._head)
            self._begin_line()
            self._read_part(part)

    def _read_part(self, part: str) -> None:
        if not part:
            return
        self.last = part[-1]
        self._head += part[: _MAX_HEAD - len(self._head)]
        self._returns += part.count("\r")
        self._is_doubtful = self._is_doubtful or not _DOUBTFUL.isdisjoint(part)
        plain = part.rstrip("\\")
        self._backslashes = len(part) - len(plain) + (0 if plain else self._backslashes)
        for ticks in _TICKS.findall(part):
            self._ticks = ticks if not self._ticks else "" if ticks == self._ticks else self._ticks

    def _end_line(self, line: str) -> None:
        is_first, self._is_first_line = self._is_first_line, False
        leaves_doubt = self._is_after_doubt or self._is_doubtful or bool(self._ticks)
        is_long = len(line) >= _MAX_HEAD
        self._is_after_doubt = leaves_doubt and (is_long or bool(line.strip(f"{_BLANKS}\r")))
        if not line.strip(f"{_BLANKS}\r"):
            self.has_tag = False
        has_inner_lines = self._returns > (self.last == "\r")
        if not self._fence and (has_inner_lines or _HTML_LINE.match(line)):
            self._has_html = True
        if self._doubt:
            return
        if has_inner_lines or (is_long and line[0] in "`~ \t"):
            self._doubt, self._fence = True, ""
        elif self._fence:
            self._end_line_in_fence(line)
        elif (found := _FENCE.match(line)) and not ("`" in found[0][:1] and "`" in found["rest"]):
            self._fence = found["fence"]
        elif _ODD_LINE.match(line) or (is_first and line.lstrip(_BOM).startswith(("---", "+++"))):
            self._doubt = True

    def _end_line_in_fence(self, line: str) -> None:
        plain = line.replace(_BOM, " ").strip()
        if len(plain) < len(self._fence) or set(plain) != {self._fence[0]}:
            return
        self._fence = ""
        # Behind blanks, it depends on their number whether the fence ends here; before odd ones, on
        # who reads it.
        self._doubt = line.removesuffix("\r").rstrip(_BLANKS) != plain


def _code_length(line: str, *, ticks: str, is_open: bool) -> int | None:
    is_open = is_open and len(line) < _MAX_CODE
    code = _TICKS.finditer(line, 0, _MAX_CODE)
    closed = next((one for one in code if one[0] == ticks), None)
    if closed is None or closed.end() == _MAX_CODE or (is_open and closed.end() == len(line)):
        return None if is_open else 0
    return closed.end() if _DOUBTFUL_IN_CODE.isdisjoint(line[: closed.start()]) else 0


def without_remote_images(text: str, *, sources: Collection[str]) -> str:
    """Return a whole text without remote images."""
    if "!" not in text and "<" not in text:
        return text
    images = MarkdownImages(sources, less_than="< ")
    return images.feed(text) + images.end()
