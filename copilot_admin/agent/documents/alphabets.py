"""Whether a text is written in the letters of one language.

What is read in a wrong encoding has letters that no language has side by side, capitals within
words, and signs where letters belong. The alphabets are those of the languages in which people
save text files in old encodings; a text in another one, or in several, is written in none of them.
"""

from collections import Counter
from collections.abc import Iterable
import re


def _letters(*ranges: tuple[int, int], more: str = "") -> frozenset[str]:
    return frozenset(chr(one) for first, last in ranges for one in range(first, last + 1)) | {*more}


# Letters beyond the plain ones, small; some with those that its loanwords bring.
_LATIN = (
    "äöüßé",  # German
    "àâæçéèêëîïôœùûüÿ",  # French
    "áéíñóúüªº",  # Spanish
    "àáâãçéêíóôõúüªº",  # Portuguese
    "àèéìíîòóùúªº",  # Italian
    "àçèéíïòóúü",  # Catalan
    "áèéëíïóöúü",  # Dutch
    "äåöé",  # Swedish, Finnish
    "æøåéèêóòô",  # Danish, Norwegian
    "áðéíóúýþæö",  # Icelandic
    "ąćęłńóśźż",  # Polish
    "áäčďéěíĺľňóôŕřšťúůýž",  # Czech, Slovak
    "áéíóöőúüű",  # Hungarian
    "ăâîşţșț",  # Romanian
    "čćđšž",  # Croatian, Slovenian
    "çğıİöşüâîû",  # Turkish
    "äõöüšž",  # Estonian
    "āčēģīķļņšūž",  # Latvian
    "ąčęėįšųūž",  # Lithuanian
)
_CYRILLIC = (
    _letters((0x430, 0x44F), more="ё"),  # Russian, Bulgarian
    _letters((0x430, 0x44F), more="іїєґ") - {*"ыэъ"},  # Ukrainian
    _letters((0x430, 0x44F), more="ёіў") - {*"ищъ"},  # Belarusian
    _letters((0x430, 0x44F), more="ђјљњћџѓѕќ") - {*"йщъыьэюя"},  # Serbian, Macedonian
)
_ALPHABETS = (
    *map(frozenset, _LATIN),
    *_CYRILLIC,
    _letters((0x3AC, 0x3CE), more="ΐΰ"),  # Greek
    _letters((0x5B0, 0x5EA)),  # Hebrew
    _letters((0x621, 0x652), more="،؛؟پچژگ"),  # Arabic, Persian
    _letters((0xE01, 0xE5B)),  # Thai
)
_THAI_MARKS = _letters((0xE30, 0xE3A), (0xE47, 0xE4E))
_FIRST_OTHER = "\u0370"  # Greek; what stands before it is Latin
_BESIDE_WORDS = frozenset("„“”‚‘’«»‹›–—…•·¿¡©®™²³°µ\xa0\xad№")  # noqa: RUF001  # what people write
_BESIDE_NUMBERS = frozenset("€£¥¢§±½¼¾×÷")  # noqa: RUF001
_WITHIN_WORDS = frozenset("’‘·–\xad\xa0")  # noqa: RUF001
_BEYOND = re.compile(r"[^\x00-\x7f]")
_MOST_ODD = 50  # one of so many signs may be odd, as in a name from elsewhere


def is_of_one_language(text: str) -> bool:
    padded = f" {text} "
    letters: Counter[str] = Counter()
    odd = 0
    for found in _BEYOND.finditer(padded):
        place, sign = found.start(), found[0]
        before, after = padded[place - 1], padded[place + 1]
        if any(sign in alphabet or sign.lower() in alphabet for alphabet in _ALPHABETS):
            letters[sign] += 1
            odd += _is_case_odd(sign, before, after) or _is_script_odd(sign, before, after)
        else:
            odd += _is_sign_odd(sign, before, after)
    most = (letters.total() + odd) // _MOST_ODD
    return odd + _fewest_foreign(letters) <= most


def _is_case_odd(sign: str, before: str, after: str) -> bool:
    """A capital within a word, or a small letter between capitals."""
    if sign.isupper():
        return before.islower()
    return sign.islower() and before.isupper() and after.isupper()


def _is_script_odd(sign: str, before: str, after: str) -> bool:
    """A letter of another script beside a plain one, or a Thai mark that stands on no letter."""
    if sign in _THAI_MARKS:
        return before not in _THAI_MARKS and not "\u0e01" <= before <= "\u0e2e"
    return sign >= _FIRST_OTHER and any(one.isascii() and one.isalpha() for one in (before, after))


def _is_sign_odd(sign: str, before: str, after: str) -> bool:
    touches = before.isalpha() + after.isalpha()
    if sign in _WITHIN_WORDS:
        return False
    return touches > 1 if sign in _BESIDE_WORDS else touches > 0 or sign not in _BESIDE_NUMBERS


def _fewest_foreign(letters: Counter[str]) -> int:
    """The letters that are not of the language that has most of them."""
    return min(_foreign(letters.items(), alphabet) for alphabet in _ALPHABETS)


def _foreign(letters: Iterable[tuple[str, int]], alphabet: frozenset[str]) -> int:
    return sum(
        count for sign, count in letters if sign not in alphabet and sign.lower() not in alphabet
    )
