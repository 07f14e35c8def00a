"""Guesses in which of the encodings in which people save text files some bytes are.

Where one reading alone is written in the letters of one language (see `alphabets.py`), that is it;
else which letters stand beside each other decides, and it is not sure where others are as good.
"""

from collections.abc import Sequence
from dataclasses import dataclass
import re

from charset_normalizer import CharsetMatch, from_bytes

from copilot_admin.agent.documents.alphabets import is_of_one_language

# Of two that fit equally well the first is taken.
_WINDOWS = ("cp1252", "cp1250", "cp1254")
_LATIN = ("cp1252", "cp1250", "iso8859_2", "cp1254")
_LATIN_OF_OLD_PROGRAMS = ("cp850", "mac_roman")
_OTHERS = (
    *("cp932", "cp949", "gb18030", "big5", "euc_jp"),  # few bytes fit these by chance
    *("cp1251", "koi8_r", "cp866", "iso8859_5", "cp1253", "cp1255", "cp1256", "cp874"),
)
_LATIN_ALPHABETS = (*_LATIN, "cp1257", "cp850", "cp852", "mac_roman", "mac_latin2")
_WITH_CAPITALS = (  # by which a wrong reading of many letters is told from a right one
    *_LATIN_ALPHABETS,
    *("cp1251", "koi8_u", "cp866", "iso8859_5", "mac_cyrillic", "cp1253", "iso8859_7"),
)
_ALPHABETS = (*_WITH_CAPITALS, "cp1255", "cp1256", "iso8859_6", "cp874")
_SUBSETS = ("koi8_r",)  # of one of those
_READ = 8 * 1024  # bytes that are read letter by letter, in each of these encodings
_WHOLE = 100  # signs to one that is damaged
_FEW_SIGNS = 8  # of Chinese as few may look like kana by chance
_SIGNS = frozenset("ªºµ")  # that count as letters
_KANA = re.compile(r"[\u3041-\u30ff]")
_FEW = 4  # letters that are not plain; of fewer nothing can be told
_LATIN_RUN = 3  # letters with marks that follow each other in a Latin text
_STRICT, _LENIENT = 0.2, 0.4  # of letters that may stand beside each other oddly
# Percent of odd letters, and of likeness to a language: right and wrong readings differ as much.
_CLOSE_CHAOS, _CLOSE_LIKENESS = 15.0, 5.0
_HIGH = re.compile(rb"[\x80-\xff]+")
_PLAIN = re.compile(rb"[A-Za-z]")


@dataclass(frozen=True, slots=True)
class Guess:
    """An encoding, and whether no other is as likely."""

    encoding: str
    is_sure: bool = False


def guess(sample: bytes) -> Guess | None:
    """The encoding that is likely; None where none is.

    Args:
        sample: Bytes that are no Unicode, the telling ones of a long text.
    """
    if sum(map(len, _HIGH.findall(sample))) < _FEW:
        readings = {sample.decode(one, "replace") for one in _WINDOWS}
        return Guess(_WINDOWS[0], is_sure=len(readings) == 1)
    if _is_euc_japanese(sample):
        return Guess("euc_jp", is_sure=True)
    found = _readings_of_one_language(sample[:_READ])
    text, likely = next(iter(found.items()), ("", ""))
    is_sparse = _is_sparse(sample) or not any(map(_is_other_letter, text))
    is_latin = likely in _LATIN_ALPHABETS and is_sparse
    if is_latin and len(found) == 1:
        return Guess(likely, is_sure=True)
    return _of_matches(sample, found, likely=likely, is_latin=is_latin)


def _is_other_letter(one: str) -> bool:
    return one.isalpha() and not one.isascii() and one not in _SIGNS


def _letters_in(text: str) -> int:
    return sum(map(str.isalpha, text))


def _of_matches(
    sample: bytes, found: dict[str, str], *, likely: str, is_latin: bool
) -> Guess | None:
    matches = _matches(sample)
    if not matches:
        return Guess(likely) if likely else None
    name = _first_of(matches[0])
    if is_latin and name not in _LATIN_ALPHABETS:
        return Guess(likely)
    text = sample[:_READ].decode(name, "replace")
    if text in found:
        most = max(map(_letters_in, found))  # a sign in its place may be a letter in another
        return Guess(name, is_sure=_letters_in(text) == most and _is_sure(matches, name))
    is_alphabetic = name in _ALPHABETS or name in _SUBSETS
    if found and (is_alphabetic or (len(found) == 1 and likely in _WITH_CAPITALS)):
        return Guess(likely)
    return Guess(name, is_sure=not is_alphabetic and _is_sure(matches, name))


def _readings_of_one_language(sample: bytes) -> dict[str, str]:
    """The readings that are written in the letters of one language, with an encoding of each."""
    found: dict[str, str] = {}
    for encoding in _ALPHABETS:
        try:
            text = sample.decode(encoding)
        except UnicodeDecodeError:
            continue
        if text not in found and is_of_one_language(text):
            found[text] = encoding
    return found


def _is_sure(matches: Sequence[CharsetMatch], name: str) -> bool:
    best, *others = matches
    unlike = best.percent_coherence == 0  # any language that is known
    unsure = unlike and (best.percent_chaos > 0 or name in _LATIN_OF_OLD_PROGRAMS)
    near = any(
        one.percent_chaos <= best.percent_chaos + _CLOSE_CHAOS
        and one.percent_coherence >= best.percent_coherence - _CLOSE_LIKENESS
        for one in others
    )
    return not (unsure or near)


def _is_euc_japanese(sample: bytes) -> bool:
    text = sample.decode("euc_jp", "replace")
    others = sum(not one.isascii() for one in text)
    kana = len(_KANA.findall(text))
    damage = text.count("\ufffd")  # where a sample was cut
    return damage * _WHOLE <= others and others >= _FEW_SIGNS and kana * 5 >= others


def _matches(sample: bytes) -> Sequence[CharsetMatch]:
    """The encodings that fit, best first; one match stands for all that make the same text of the bytes."""
    candidates = _candidates(sample)
    for tried, threshold in (
        (candidates, _STRICT),
        ((*candidates, *_LATIN_OF_OLD_PROGRAMS), _LENIENT),
    ):
        found = list(from_bytes(sample, cp_isolation=list(tried), threshold=threshold))
        if found:
            return sorted(
                found,
                key=lambda one: (
                    one.percent_chaos,
                    -one.percent_coherence,
                    tried.index(_first_of(one)),
                ),
            )
    return ()


def _first_of(match: CharsetMatch) -> str:
    """The most common of the encodings that make the same text of the sample."""
    order = (*_LATIN, *_OTHERS, *_LATIN_OF_OLD_PROGRAMS)
    same = [one for one in match.could_be_from_charset if one in order]
    return min(same, key=order.index) if same else match.encoding


def _candidates(sample: bytes) -> tuple[str, ...]:
    """The encodings among which is guessed, by how many of the letters are plain."""
    is_sparse = _is_sparse(sample)
    is_short = max(map(len, _HIGH.findall(sample)), default=0) <= _LATIN_RUN
    if is_sparse and is_short:
        return _LATIN
    return (*_LATIN, *_OTHERS) if is_sparse else _OTHERS


def _is_sparse(sample: bytes) -> bool:
    return sum(map(len, _HIGH.findall(sample))) * 2 <= len(_PLAIN.findall(sample))
