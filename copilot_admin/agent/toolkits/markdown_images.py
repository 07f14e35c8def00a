"""Removal of remote images from Markdown while it streams: they become links.

A client loads images automatically and so sends their URLs to a server. Data in the prompt can make
a model write any URL. `![` becomes `[`, unless the image is allowed or is part of code. HTML tags
that load, or have attributes that load, become text. Comparisons such as `a<b and c=d` and types
such as `Map<String>` are unchanged. Text counts as code only if all Markdown viewers agree that it is.
"""

from collections.abc import Collection
import re

MAX_HELD = 2_000  # characters of an image that may be allowed, until it is complete
_MAX_TAG = 300  # of a tag; a longer candidate is treated as a tag
_MAX_CODE = 300  # from an image or tag to the following backticks
_MAX_LINE = 2_000  # code in longer lines is ignored
_MARK = re.compile(r"(?<![\\!])(?P<escapes>\\*+)(?P<bangs>!++)\[|<(?=[a-z])", re.IGNORECASE)
_UNFINISHED = re.compile(r"(?<![\\!])(?:\\++!*+|!++)\Z|<\Z|(?<!`)`++\Z")
_LOADING_TAG = re.compile(
    r"button|dialog|form|frameset|iframe|img|input|math|meta|noembed|noframes|noscript|plaintext"
    r"|portal|script|select|style|svg|template|textarea|title|xmp",
    re.IGNORECASE,
)
# A quoted value, and one that another tag interrupts, may hide a loading attribute.
_LOADING_ATTRIBUTE = re.compile(
    r"(?<![\w:.-])(?:style|on[a-z]+|src|srcset|srcdoc|href|background|poster|data|action|formaction"
    r"|ping|content|lowsrc|dynsrc|xlink:href)\s*=|=(?:\s*[\"']|[^<>]*<)",
    re.IGNORECASE,
)
_TAG_NAME = re.compile(r"<([a-z][^\s/<>]*+)", re.IGNORECASE)
_TAG_END = re.compile(r"[<>]|\n[ \t\r]*\n")
_ADDRESS = re.compile(  # excludes text that HTML would parse as an attribute that loads
    r"<(?:https?://(?!\S*/(?:style|on[a-z]*)=)[^\s<>\"'`]*+|(?:mailto:)?[\w.+-]++@[\w.-]++)>",
    re.IGNORECASE,
)
_IMAGE = re.compile(
    r"!\[[^\[\]\\\n\r`<!|$]{0,500}+\]\((?P<address>data:image/[a-z0-9.+-]{1,50}+;base64,[\w+/=]*+"
    r"|[^\s()<>\\\[\]`|$]{1,1500}+)(?: \"[^\"\\\n\r`<|$]{0,200}+\")?\)"
)
_FENCE = re.compile(r"(`{3,}|~{3,})[^`~]*")
_LONE_RETURN = re.compile(r"\r(?!\n|\Z)")
_TICKS = re.compile(r"`+")
_DOUBTFUL = re.compile(r"[<|$\\]")  # HTML, tables, mathematics and escapes are read before code
_LINE_START = re.compile(r"[\s\ufeff>*+\-\d.)#|]*+")  # of quotes, lists, headings and tables
_ODD_LINE = re.compile(rf"{_LINE_START.pattern}(?:<[a-z!/?]|\$\$|`{{3}}|~{{3}})", re.IGNORECASE)


class MarkdownImages:
    """Filter for the text of one answer as it streams to the client."""

    def __init__(self, sources: Collection[str] = (), *, less_than: str = "&lt;") -> None:
        """Start a text.

        Args:
            sources: Origins from which images may be loaded, such as "https://charts.example.com".
            less_than: Replaces the "<" of a tag that loads.
        """
        self._less_than = less_than
        self._allowed = ("data:image/", *(f"{source}/" for source in sources))
        self._held = ""
        self._code = _CodeReader()

    def feed(self, text: str, *, is_end: bool = False) -> str:
        """Add the next piece and return the text that can be sent so far."""
        text, place = self._held + text, 0
        sent: list[str] = []
        while mark := _MARK.search(text, place):
            sent.append(text[place : mark.start()])
            self._code.read(text[place : mark.start()])
            place = mark.start()
            end = self._code.end_of_code(text, mark.end(), is_end=is_end)
            if end is None or end > mark.end():
                found = end and (end, text[place:end])
            else:
                found = self._replace(text, mark, is_end=is_end)
            if not found:
                self._held = text[place:]
                return "".join(sent)
            self._code.read(text[place : found[0]])
            sent.append(found[1])
            place = found[0]
        unfinished = None if is_end else _UNFINISHED.search(text, place)
        self._held = unfinished[0] if unfinished else ""
        rest = text[place : len(text) - len(self._held)]
        self._code.read(rest)
        return "".join([*sent, rest])

    def end(self) -> str:
        return self.feed("", is_end=True)

    def _replace(self, text: str, mark: re.Match[str], *, is_end: bool) -> tuple[int, str] | None:
        """Return the end of a mark and its replacement, or None until more text has arrived."""
        if mark[0] == "<":
            return self._replace_tag(text, mark.start(), is_end=is_end)
        escapes, bangs = mark["escapes"], mark["bangs"]
        is_escaped = len(escapes) % 2 == 1
        if is_escaped and len(bangs) == 1:
            return mark.end(), mark[0]
        image = _IMAGE.match(text, mark.end() - 2)
        if image is None and not is_end:
            rest = text[mark.end() : mark.end() + MAX_HELD]
            if len(rest) < MAX_HELD and not re.search(r"[)\n]", rest):
                return None
        if image and image["address"].lower().startswith(self._allowed):
            return image.end(), f"{escapes}{bangs[:-1]}{image[0]}"
        left = f"{bangs[:-1]}\\!" if bangs[1:] else ""  # else the previous mark starts the image
        return mark.end(), f"{escapes}{left}["

    def _replace_tag(self, text: str, start: int, *, is_end: bool) -> tuple[int, str] | None:
        kept, escaped = (start + 1, "<"), (start + 1, self._less_than)
        name = _TAG_NAME.match(text, start)
        address = _ADDRESS.match(text, start)
        if address:
            return address.end(), address[0]
        if name is None or (name.end() == len(text) and not is_end):
            return None if len(text) - start < _MAX_TAG else escaped
        has_attributes = text[name.end() : name.end() + 1] != ">"
        if _LOADING_TAG.fullmatch(name[1]) or (has_attributes and self._code.may_be_html):
            return escaped
        end = _TAG_END.search(text, name.end(), name.end() + _MAX_TAG)
        if end is None and len(text) - name.end() >= _MAX_TAG:
            return escaped
        if end is None:
            return kept if is_end else None
        is_loading = _LOADING_ATTRIBUTE.search(text, name.end(), end.end())
        return escaped if is_loading else kept


class _CodeReader:
    """Reader that finds fenced code, and code in backticks within a line."""

    def __init__(self) -> None:
        self._fence = ""
        self._line = ""
        self._last = ""  # character
        self._is_first_line = True
        self._has_doubt = False  # in the remaining text
        self._has_paragraph_doubt = False

    @property
    def may_be_html(self) -> bool:
        """Return whether a tag here may be part of an HTML block, whose attributes all count."""
        line = self._line
        is_start = _LINE_START.fullmatch(line) or _ODD_LINE.match(line) or len(line) == _MAX_LINE
        return self._has_doubt or bool(is_start)

    def read(self, text: str) -> None:
        """Read the next part of a text, which doesn't end within backticks."""
        if _LONE_RETURN.search(self._last + text):
            self._has_doubt = True  # some viewers end a line there
        self._last = text[-1:] or self._last
        *ended, line = (self._line + text).split("\n")
        for one in ended:
            self._end_line(one)
        self._line = line[:_MAX_LINE]

    def end_of_code(self, text: str, place: int, *, is_end: bool) -> int | None:
        """Return the end of the code around a place; the place outside of code; None if unknown."""
        if self._fence and not self._has_doubt:
            line_end = text.find("\n", place)
            return len(text) if line_end < 0 else line_end
        if "`" not in self._line or self._has_doubt or self._has_paragraph_doubt:
            return place
        ticks = "" if _is_doubtful(self._line) else _open_ticks(self._line)
        if not ticks:
            return place
        line = text[place : place + _MAX_CODE].partition("\n")[0]
        is_open = not is_end and place + len(line) == len(text) and len(line) < _MAX_CODE
        closed = next((one for one in _TICKS.finditer(line) if one[0] == ticks), None)
        if closed is None or closed.end() in (_MAX_CODE, len(line) if is_open else -1):
            return None if is_open else place
        return place if re.search(r"[|$\\\r]", line[: closed.start()]) else place + closed.start()

    def _end_line(self, line: str) -> None:
        is_first, self._is_first_line = self._is_first_line, False
        has_doubt = self._has_paragraph_doubt or _is_doubtful(line) or bool(_open_ticks(line))
        self._has_paragraph_doubt = False
        line, is_long = line.rstrip(" \t\r"), len(line) >= _MAX_LINE
        if self._fence:
            plain = line.strip().strip("\ufeff")
            if len(plain) >= len(self._fence) and set(plain) == {self._fence[0]}:
                self._has_doubt = self._has_doubt or plain != line  # its end depends on the viewer
                self._fence = ""
        elif found := _FENCE.fullmatch(line):
            self._fence = found[1]
        elif _ODD_LINE.match(line) or (is_long and line[:1] in "`~"):
            self._has_doubt = True
        elif is_first and line.strip("\ufeff").startswith(("---", "+++")):
            self._has_doubt = True  # front matter
        else:
            self._has_paragraph_doubt = has_doubt and bool(line)


def _is_doubtful(line: str) -> bool:
    return len(line) >= _MAX_LINE or _DOUBTFUL.search(line) is not None


def _open_ticks(line: str) -> str:
    """Return the backticks at the start of code that isn't closed in the line."""
    ticks = ""
    for found in _TICKS.findall(line):
        ticks = "" if found == ticks else ticks or found
    return ticks


def without_remote_images(text: str, *, sources: Collection[str]) -> str:
    """Return a complete text without remote images."""
    if "!" not in text and "<" not in text:
        return text
    images = MarkdownImages(sources, less_than="< ")
    return images.feed(text) + images.end()
