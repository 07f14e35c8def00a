"""Text in the encodings in which people save it; what is guessed is said, and bytes are no text."""

from random import Random

import pytest

from copilot_admin.agent.documents.registry import UnreadableFile
from copilot_admin.agent.documents.text_encodings import (
    DAMAGED,
    GUESSED,
    UNKNOWN,
    decode_text,
    looks_like_text,
)

TEXTS = {
    "German": "Der Käse kostet fünf Euro. Die Größe der Bäume überrascht.\n",
    "French": "L'été dernier, les élèves ont mangé des crêpes à la crème brûlée.\n",
    "Spanish": "¿Qué pasó? El señor Muñoz compró más acciones.\n",
    "Polish": "Stopy wzrosły w czerwcu. Źródło: bank, żółć i gęś.\n",
    "Turkish": "Merkez Bankası faizi yükseltti. Şirketlerin borçları çoğaldı, ışık.\n",  # its letters
    "Russian": "Ставки выросли в июне. Рынок ждёт решения банка.\n",
    "Greek": "Τα επιτόκια αυξήθηκαν τον Ιούνιο.\n",  # its letters
    "Arabic": "ارتفعت الأسعار في يونيو. السوق ينتظر قرار البنك.\n",
    "Hebrew": "הריבית עלתה ביוני. השוק ממתין להחלטה.\n",
    "Czech": "Sazby v červnu vzrostly. Příliš žluťoučký kůň úpěl ďábelské ódy.\n",
    "Hungarian": "A kamatok júniusban emelkedtek. Árvíztűrő tükörfúrógép.\n",
    "Romanian": "Dobânzile au crescut în iunie. Piaţa aşteaptă.\n",
    "Portuguese": "As taxas subiram em junho. A decisão não é fácil, ação.\n",
    "Swedish": "Räntorna steg i juni. Åsa köpte fler aktier på börsen.\n",
    "Danish": "Renten steg i juni. Køb flere aktier på børsen, æblegrød.\n",
    "Ukrainian": "Ставки зросли у червні. Ринок чекає рішення банку її.\n",  # its letters
    "Thai": "อัตราดอกเบี้ยเพิ่มขึ้นในเดือนมิถุนายน\n",
    "Chinese": "利率在六月上升。市场等待央行的决定。\n",
    "Taiwanese": "利率在六月上升。市場等待央行的決定。\n",
    "Japanese": "金利は六月に上昇した。市場は中央銀行の決定を待っている。\n",
    "Korean": "금리가 6월에 올랐다. 시장은 결정을 기다린다.\n",
}
SAVED_AS = [
    *(("German", one) for one in ("cp1252", "latin-1", "iso8859_15", "cp850")),
    *(("French", one) for one in ("cp1252", "mac_roman")),
    *(("Spanish", "cp1252"), ("Polish", "cp1250"), ("Turkish", "cp1254")),
    *(("Russian", one) for one in ("cp1251", "koi8_r", "cp866")),
    *(("Greek", "cp1253"), ("Arabic", "cp1256"), ("Hebrew", "cp1255")),
    *(("Chinese", "gb18030"), ("Taiwanese", "big5")),
    *(("Japanese", one) for one in ("cp932", "euc_jp")),
    ("Korean", "cp949"),
    *(("German", one) for one in ("mac_roman", "cp437")),
    *(("French", "cp850"), ("Spanish", "mac_roman"), ("Turkish", "iso8859_9")),
    *((one, "cp850") for one in ("Swedish", "Danish", "Portuguese")),
    *((one, "cp1252") for one in ("Swedish", "Danish", "Portuguese")),
    *((one, "iso8859_2") for one in ("Polish", "Czech", "Hungarian", "Romanian")),
    *((one, "cp1250") for one in ("Czech", "Hungarian", "Romanian")),
    *((one, "cp852") for one in ("Polish", "Czech", "Hungarian", "Romanian")),
    *((one, "mac_latin2") for one in ("Polish", "Czech", "Hungarian")),
    *((one, "mac_cyrillic") for one in ("Russian", "Ukrainian")),
    *(("Ukrainian", one) for one in ("cp1251", "koi8_u", "iso8859_5")),
    *(("Greek", "iso8859_7"), ("Arabic", "iso8859_6"), ("Hebrew", "iso8859_8"), ("Thai", "cp874")),
    ("Japanese", "iso2022_jp"),
]
WIDE = (
    "utf-8",
    "utf-8-sig",
    "utf-16",
    "utf-16-le",
    "utf-16-be",
    "utf-32",
    "utf-32-le",
    "utf-32-be",
)


@pytest.mark.parametrize("encoding", WIDE)
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_unicode_is_read_with_and_without_a_mark(encoding, text):
    found = decode_text(text.encode(encoding))
    assert (found.text, found.note) == (text, "")
    assert looks_like_text(text.encode(encoding))


@pytest.mark.parametrize(("language", "encoding"), SAVED_AS)
def test_older_encodings_are_found_by_their_letters(language, encoding):
    data = TEXTS[language].encode(encoding) * 5
    assert decode_text(data).text == TEXTS[language] * 5
    assert looks_like_text(data)


@pytest.mark.parametrize("language", ["Polish", "Czech", "Hungarian", "Romanian", "Portuguese"])
@pytest.mark.parametrize("encoding", ["cp1250", "iso8859_2", "cp1252", "cp852", "cp850"])
def test_one_line_in_the_letters_of_one_language_is_no_guess(language, encoding):
    try:
        data = TEXTS[language].encode(encoding)
    except UnicodeEncodeError:
        return  # nobody saves it so
    found = decode_text(data)
    assert (found.text, found.note) == (TEXTS[language], "")


@pytest.mark.parametrize(("language", "encoding"), SAVED_AS)
def test_a_wrong_reading_is_never_given_without_a_word(language, encoding):
    data = TEXTS[language].encode(encoding)
    found = decode_text(data)
    assert found.text == TEXTS[language] or found.note.startswith("[read as ")


@pytest.mark.parametrize("text", ["naïve café à Zürich, Łódź, Škoda", "Łódź, Ærø und Çeşme, Győr"])
def test_letters_of_several_languages_are_a_guess(text):
    data = text.encode("cp1250", "ignore") + text.encode("cp1252", "ignore")
    assert decode_text(data).note.startswith("[read as ")


def test_a_reading_that_has_a_sign_where_another_has_a_letter_is_a_guess():
    text = "Доходы компании выросли на три процента.\n"  # whose capital is a quote to Windows
    assert decode_text(text.encode("mac_cyrillic")).note == GUESSED.format(encoding="cp1251")
    assert decode_text(text.encode("cp1251")).note == ""


@pytest.mark.parametrize(
    "text",
    [
        "“quoted” it’s – a test of plain words… 5 €, ±3 °C § 5\n",  # what people write
        "5 µm ± 3 °C § 5 ½ ×\n",
    ],
)
def test_signs_alone_are_read_as_those_of_windows(text):
    assert decode_text(text.encode("cp1252")).text == text


def test_few_chinese_signs_are_not_taken_for_japanese():
    data = "市場".encode("big5")  # which is kana in the encoding of Japanese
    assert decode_text(data).note.startswith("[read as ")


def test_a_mark_of_another_encoding_is_not_believed():
    text = TEXTS["German"]
    for data in (b"\xef\xbb\xbf" + text.encode("cp1252"), b"\xff\xfe" + text.encode()):
        assert decode_text(data) == decode_text(text.encode())
    chinese = TEXTS["Chinese"]
    assert decode_text(chinese.encode("utf-16")).text == chinese


@pytest.mark.parametrize(
    "text",
    ["Käse", "für", "Société Générale\n", "Name;Stückpreis\nKäse;1,50\n", "Umsatz: 5 €\n", "“x”"],
)
def test_a_few_letters_are_those_of_windows(text):
    assert decode_text(text.encode("cp1252")).text == text


def test_what_is_the_same_in_all_encodings_that_fit_is_no_guess():
    assert decode_text("Käse für alle\n".encode("cp1252")).note == ""
    assert decode_text(TEXTS["Russian"].encode("cp1251") * 5).note == ""


def test_a_guess_is_said():
    hebrew = TEXTS["Hebrew"].encode("cp1255")
    found = decode_text(hebrew)
    assert found.note == GUESSED.format(encoding="cp1251")
    assert found.text == hebrew.decode("cp1251")


@pytest.mark.parametrize("language", ["German", "Chinese"])
def test_of_utf8_that_was_cut_or_patched_single_letters_are_damaged(language):
    text = TEXTS[language] * 10
    cut = text.encode()[:-2] + b"\xe4"
    found = decode_text(cut)
    assert found.note == DAMAGED.format(count=found.text.count("\ufffd"))
    assert found.text[: len(text) - 2] == text[:-2]


def test_a_long_text_is_known_by_the_lines_that_are_not_plain():
    rows = "day,price,name\n" + "Mon,1,plain\n" * 8_000
    text = rows + "Tue,2,Größe der Bäume in Köln\n" * 20 + rows
    found = decode_text(text.encode("cp1252"))
    assert (found.text, found.note) == (text, "")
    one_line = "x " * 50_000 + "Größe der Bäume in Köln " * 5
    assert decode_text(one_line.encode("cp1252")).text == one_line
    many = TEXTS["Russian"] * 2_000
    assert decode_text(many.encode("koi8_r")).text == many


@pytest.mark.parametrize("size", [60, 1_000, 100_000])
@pytest.mark.parametrize("seed", range(5))
def test_bytes_by_chance_are_no_text(size, seed):
    data = Random(seed).randbytes(size)
    with pytest.raises((UnreadableFile, ValueError)):
        decode_text(data)
    assert not looks_like_text(data)


def test_text_with_zeros_in_it_is_no_text():
    for data in (b"a\0b", b"plain text of some length, and then a zero\0.", b"\0" * 40):
        with pytest.raises(ValueError, match="binary"):
            decode_text(data)


def test_a_mark_before_what_is_no_text_does_not_make_it_one():
    with pytest.raises(UnreadableFile) as told:
        decode_text(b"\xff\xfe\x00" * 20)
    assert told.value.public == UNKNOWN


def test_what_fits_no_encoding_is_told():
    with pytest.raises(UnreadableFile) as told:
        decode_text(b"\xff\x01\xfe\x02" * 20)
    assert told.value.public == UNKNOWN


def test_nothing_is_text_of_no_length():
    assert decode_text(b"").text == ""
    assert looks_like_text(b"")
