"""Takes images from elsewhere out of Markdown while it streams: they become links.

A client loads an image by itself, and so tells its server what the address says; a model writes
addresses as the data that it reads asks it to. An image is only a link with a `!` before it, so the
`!` goes, wherever it stands. It stays where the address is one that the builder allows, and in code:
where every reader of Markdown agrees that it is code, which is in fences at the beginning of a line
and between backticks on one line with nothing before them that could mean something else.

Of HTML only tags without attributes stay, such as `<br>`: any attribute may load, by a style, or run.
The others become text by a blank, which changes no other meaning of a `<`, as in `$a<b$`.
"""

from collections.abc import Collection
import re

LONGEST_HELD = (
    2_000  # characters of an image that may be allowed, or of code, until its end is there
)
# Also without attributes: they load, ask or send, or begin what is read by rules of its own.
_NEVER = (
    "audio|base|body|button|dialog|embed|form|frame|frameset|iframe|image|img|input|link|math|meta|noembed|noframes|noscript|object"
    "|picture|plaintext|portal|script|select|source|style|svg|table|template|textarea|title|track|video|xmp"
)
_MARK = re.compile(r"!\[|<(?=[a-z])", re.IGNORECASE)
_PLAIN_TAG = re.compile(rf"<(?!(?:{_NEVER})[\s/>])[a-z][a-z0-9-]{{0,50}}+\s*+/?>", re.IGNORECASE)
# No address in which a browser that takes it for a tag would see such an attribute.
_IN_ADDRESS = r"[^\s<>\"'`\[\\]"
_ADDRESS = re.compile(
    rf"<(?:https?:(?:(?!/(?:style|on[a-z]*+)=){_IN_ADDRESS})*+|(?:mailto:)?[\w.+-]++@[\w.-]++)>",
    re.IGNORECASE,
)
_BEGINNINGS = (
    re.compile(r"<[a-z][a-z0-9-]{0,50}+\s*+/?\Z", re.IGNORECASE),
    re.compile(rf"<(?:https?:|mailto:|[\w.+-]++@){_IN_ADDRESS}*+\Z", re.IGNORECASE),
    re.compile(r"<[\w.+-]{1,100}+\Z"),
)
_IMAGE = re.compile(
    r"!\[[^\[\]\\\n\r`<!|$]{0,500}+\]\((?P<address>[^\s()<>\\\[\]`|$]{1,1500}+)"
    r"(?: \"[^\"\\\n\r`<|$]{0,200}+\")?\)"
)
_DATA_IMAGE = re.compile(
    r"!\[[^\[\]\\\n\r`<!|$]{0,500}+\]\(data:image/[a-z0-9.+-]{1,50}+;base64,[A-Za-z0-9+/=]*+\)"
)
_IMAGE_IN_ITSELF = "data:image/"
_FENCE = re.compile(r"(?P<fence>`{3,}+|~{3,}+)(?P<rest>[^\n\r]*+)")
_BOM = "\ufeff"  # some readers take it for a blank, or leave it out where a text begins
_ODD_LINE = re.compile(
    rf"[\s{_BOM}>*+\-\d.)]*+(?:<|\$\$|`{{3}}|~{{3}})"
)  # HTML or mathematics, also in lists and quotes
_BLANKS = " \t"  # what all readers take for one; only some do so with other spaces
_TICKS = re.compile(r"`+")
_DOUBTFUL = frozenset("<|$\\\r")  # HTML, tables, mathematics and escapes are read before code
_NOT_IN_ALT = frozenset("[]\\`<!|$")
_NOT_IN_ADDRESS = frozenset("()<>\\[]`|$")
_LONGEST_HEAD = 500  # characters
_LONGEST_CODE = 300  # from an image to the backticks behind it
_SHORT = 100  # what is held is as short as this where nobody means harm


class MarkdownImages:
    """The text of one answer on its way to the client."""

    def __init__(self, sources: Collection[str] = ()) -> None:
        """Begins a text.

        Args:
            sources: Origins from which images may be loaded, such as "https://charts.example.com".
        """
        self._allowed = (_IMAGE_IN_ITSELF, *(f"{source}/" for source in sources))
        self._held = ""
        self._next_look = 0  # how long what is held has to be before it is worth another look
        self._passed: list[str] = []  # what was passed on and not yet looked through for code
        self._code = _Code()

    def feed(self, text: str) -> str:
        """Takes the next piece and returns what may be sent of it by now."""
        if not self._held and "!" not in text and "<" not in text:
            self._passed.append(text)
            return text
        self._held += text
        if len(self._held) < self._next_look and "\n" not in text and ")" not in text:
            return ""
        return self._sent(self._held, is_end=False)

    def end(self) -> str:
        """The rest of the text, which was held back until its end was known."""
        return self._sent(self._held, is_end=True) if self._held else ""

    def _sent(self, text: str, *, is_end: bool) -> str:
        sent: list[str] = []
        start = self._next_look = 0
        while found := _MARK.search(text, start):
            self._pass(text[start : found.start()], sent)
            start = found.start()
            kept = self._kept(text, start, is_end=is_end)
            if kept is None:
                self._held = text[start:]
                # Looked at when it has grown by a quarter, so that no character is read again and again.
                self._next_look = len(self._held) * 5 // 4 if len(self._held) > _SHORT else 0
                return "".join(sent)
            if not kept:
                self._pass(self._instead_of(found[0]), sent)
            self._pass(text[start : start + kept], sent)
            start += kept or 1
        self._held = "" if is_end else _unfinished(text, start)
        self._pass(text[start : len(text) - len(self._held)], sent)
        return "".join(sent)

    def _instead_of(self, mark: str) -> str:
        if mark == "<":
            return "< "
        return "\\!" if self._code.last == "!" else ""  # else the one before would make the image

    def _pass(self, text: str, sent: list[str]) -> None:
        sent.append(text)
        self._passed.append(text)

    def _kept(self, text: str, start: int, *, is_end: bool) -> int | None:
        self._code.read("".join(self._passed))
        self._passed.clear()
        if self._code.is_in_fence or (self._code.is_escaped and text[start] == "!"):
            return 1
        line = text[start : start + LONGEST_HELD].partition("\n")[0]
        # Whether more may come that belongs to what begins here.
        is_open = not is_end and start + len(line) == len(text) and len(line) < LONGEST_HELD
        if ticks := self._code.open_ticks:
            return _code_length(line, ticks=ticks, is_open=is_open)
        if text[start] == "<":
            return _tag_length(line, is_open=is_open)
        if whole := _DATA_IMAGE.match(text, start):  # of a component, for one, in one piece
            return len(whole[0])
        return self._image_length(line, is_open=is_open)

    def _image_length(self, line: str, *, is_open: bool) -> int | None:
        image = _IMAGE.match(line)
        if image:
            return image.end() if image["address"].lower().startswith(self._allowed) else 0
        return None if is_open and self._may_be_allowed(line) else 0

    def _may_be_allowed(self, line: str) -> bool:
        alt, closed, address = line[2:].partition("](")
        if not _NOT_IN_ADDRESS.isdisjoint(address):  # there was no image up to here
            return False
        if not closed:
            return not _NOT_IN_ALT.intersection(alt.removesuffix("]"))
        small = address.lower()
        return any(small.startswith(one) or one.startswith(small) for one in self._allowed)


class _Code:
    """Where in Markdown there is code, as far as all who read it agree.

    Attributes:
        last: The last character of the line so far.
    """

    def __init__(self) -> None:
        self._fence = ""
        self._doubt = False  # whether a reader could see code where another sees none
        self._is_first_line = True
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
    def is_in_fence(self) -> bool:
        return bool(self._fence)

    @property
    def is_escaped(self) -> bool:
        return self._backslashes % 2 == 1

    @property
    def open_ticks(self) -> str:
        """The backticks that may begin code in this line; none where others could read it otherwise."""
        doubt = self._doubt or self._is_after_doubt or self._is_doubtful
        return "" if doubt else self._ticks

    def read(self, text: str) -> None:
        """Goes on behind a piece of text, which does not end within backticks."""
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
        self._head += part[: _LONGEST_HEAD - len(self._head)]
        self._returns += part.count("\r")
        self._is_doubtful = self._is_doubtful or not _DOUBTFUL.isdisjoint(part)
        plain = part.rstrip("\\")
        self._backslashes = len(part) - len(plain) + (0 if plain else self._backslashes)
        for ticks in _TICKS.findall(part):
            self._ticks = ticks if not self._ticks else "" if ticks == self._ticks else self._ticks

    def _end_line(self, line: str) -> None:
        is_first, self._is_first_line = self._is_first_line, False
        leaves_doubt = self._is_after_doubt or self._is_doubtful or bool(self._ticks)
        is_long = len(line) >= _LONGEST_HEAD
        self._is_after_doubt = leaves_doubt and (is_long or bool(line.strip(f"{_BLANKS}\r")))
        if self._doubt:
            return
        if self._returns > (self.last == "\r") or (is_long and line[0] in "`~ \t"):
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
    is_open = is_open and len(line) < _LONGEST_CODE
    code = _TICKS.finditer(line, 0, _LONGEST_CODE)
    closed = next((one for one in code if one[0] == ticks), None)
    if closed is None or closed.end() == _LONGEST_CODE or (is_open and closed.end() == len(line)):
        return None if is_open else 0
    return closed.end() if _DOUBTFUL.isdisjoint(line[: closed.start()]) else 0


def _tag_length(line: str, *, is_open: bool) -> int | None:
    found = _PLAIN_TAG.match(line) or _ADDRESS.match(line)
    if found:
        return found.end()
    return None if is_open and any(one.match(line) for one in _BEGINNINGS) else 0


def without_remote_images(text: str, *, sources: Collection[str]) -> str:
    """A whole text without images from elsewhere."""
    if "!" not in text and "<" not in text:
        return text
    images = MarkdownImages(sources)
    return images.feed(text) + images.end()


def _unfinished(text: str, start: int) -> str:
    return text[-1] if text.endswith(("!", "<"), start) else ""
