"""What is personal is found, and nothing that merely looks like it; a text keeps what is around it."""

from dataclasses import replace

from hypothesis import example, given
from hypothesis import strategies as st
import pytest

from copilot_admin.redaction import rules as rules_module
from copilot_admin.redaction.kinds import DataKind
from copilot_admin.redaction.redactor import NOT_STORED, RedactedText, redact_texts, redact_values
from copilot_admin.redaction.rules import NO_RULES, Rules, expression_fault, rules_for, server_rules
from protocol.models import DataItem, HumanMessage, ResultMessage, SourceData

ALL = Rules(tuple(DataKind))
ACCOUNT, CARD, MAIL, PHONE = (
    "[account number]",
    "[card number]",
    "[e-mail address]",
    "[phone number]",
)


def one(text, rules=ALL):
    return redact_values([text], rules)[0]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Pay DE89 3704 0044 0532 0130 00 at once", f"Pay {ACCOUNT} at once"),
        ("GB29NWBK60161331926819.", f"{ACCOUNT}."),
        ("gb82-west-1234-5698-7654-32", ACCOUNT),
        ("GB82\u00a0WEST\u00a01234\u00a05698\u00a07654\u00a032", ACCOUNT),
        ("account no. 12345678", f"account no. {ACCOUNT}"),
        ("Konto: 1234 5678", f"Konto: {ACCOUNT}"),
        ("4111 1111 1111 1111 2025", f"{CARD} 2025"),
        ("378282246310005", CARD),
        ("5500-0000-0000-0004", CARD),
        ("a.b+c@ex-ample.co.uk, x", f"{MAIL}, x"),
        ("<ann@bank.example>", f"<{MAIL}>"),
        ("größe@bücher.example", MAIL),
        ("+49 30 1234567", PHONE),
        ("call 0049 (30) 123-4567!", f"call {PHONE}!"),
        ("(212) 555-1234 or 212-555-1234", f"{PHONE} or {PHONE}"),
        ("Tel. 030 1234567", f"Tel. {PHONE}"),
        # Beside other numbers, in the columns of a table, behind an abbreviation.
        (
            "DE89 3704 0044 0532 0130 00 4111 1111 1111 1111 +49 170 1234567",
            f"{ACCOUNT} {CARD} {PHONE}",
        ),
        ("2 items on 4111-1111-1111-1111", f"2 items on {CARD}"),
        ("3 4111 1111 1111 1111 and 3704 378282246310005", f"3 {CARD} and 3704 {CARD}"),
        ("No.4111111111111111", f"No.{CARD}"),
        ("4111.1111.1111.1111", CARD),
        ("3782 822463 10005", CARD),
        ("7,4111111111111111,ann@b.example,+49 170 1234567", f"7,{CARD},{MAIL},{PHONE}"),
        ("5,212-555-1234,Tel.+49 30 1234567", f"5,{PHONE},Tel.{PHONE}"),
        ("room 5 +49 30 1234567", f"room 5 {PHONE}"),
        # As other countries and other programs write them.
        ("01 23 45 67 89, 01.23.45.67.89", f"{PHONE}, {PHONE}"),
        ("06-12345678 or 03-1234-5678", f"{PHONE} or {PHONE}"),
        ("02 9876 5432", PHONE),
        ("1-800-555-1234", PHONE),
        ("4111_1111_1111_1111", CARD),
        ("?to=ann%40example.com", MAIL),
        ("IBANDE89370400440532013000", f"IBAN{ACCOUNT}"),
        ("DE89\n3704 0044  0532.0130_00\nDE89", f"{ACCOUNT}\nDE89"),
        ("account number is 12345678", f"account number is {ACCOUNT}"),
        ("a/c no. 12345678, Kto. 12345678", f"a/c no. {ACCOUNT}, Kto. {ACCOUNT}"),
        ("cuenta nº 12345678", f"cuenta nº {ACCOUNT}"),
        ("**Account:** `12345678`", f"**Account:** `{ACCOUNT}`"),
        ("bank_account=12345678 Sparkonto 12345678", f"bank_account={ACCOUNT} Sparkonto {ACCOUNT}"),
    ],
)
def test_personal_data_is_taken_out(text, kept):
    assert one(text) == kept
    assert one(kept) == kept


WIDE = str.maketrans("0123456789@.+-", "０１２３４５６７８９＠．＋－")
OTHERWISE = {
    "wide": lambda text: text.translate(WIDE),
    "Arabic digits": lambda text: text.translate(str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")),
    "a sign that is not seen between all": "\u200b".join,
    "a soft hyphen": lambda text: f"{text[:4]}\u00ad{text[4:]}",
    "two joiners": lambda text: f"{text[:6]}\u2060\ufeff{text[6:]}",
    "hyphens that do not break": lambda text: text.replace(" ", "\u2011").replace("-", "\u2011"),
    "dashes": lambda text: text.replace(" ", "\u2013").replace("-", "\u2013"),
    "thin blanks": lambda text: text.replace(" ", "\u2009"),
    "blanks of the width of digits": lambda text: text.replace(" ", "\u2007"),
}


@pytest.mark.parametrize("spelling", OTHERWISE)
@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("4111 1111 1111 1111", CARD),
        ("DE89 3704 0044 0532 0130 00", ACCOUNT),
        ("ann.b@example.com", MAIL),
        ("+49 30 1234567", PHONE),
        ("212-555-1234", PHONE),
    ],
)
def test_personal_data_is_taken_out_however_its_signs_are_written(text, kept, spelling):
    written = OTHERWISE[spelling](text)
    assert one(f"ü\u200b: {written}\u200b, {written} ok") == f"ü\u200b: {kept}\u200b, {kept} ok"


@pytest.mark.parametrize(
    "text",
    [
        "DE88 3704 0044 0532 0130 00",  # the checksum is wrong
        "XX89370400440532013000",  # of no country
        "DE89 3704 0044 0532 0130 00A",
        "DE89   3704 0044 0532 0130 00",
        "DE89 3704",
        "ISIN US0378331005 and DE0007164600",
        "4111 1111 1111 1112",
        "4444444444444444",  # one digit alone
        "1763812345678",  # a time in milliseconds
        "1,234,567.89 and 0.30 and 2026-11-22",
        "@home, a@b, @@",
        "price 1.555.1234",
        "0.4111111111111111 and 3.0301234567 and 3,0301234567 and 1.5e+4912345678",
        "1763812345 1763812346 1763812347",  # times in seconds
        "the account of 2026",
        "Savings account | 25000 | and accounts: 25000",
        "01 02 03 04 05 06 07 08 09 10 11 12",
        "01.12.2026 03 2025 2026 05-2025-2026",
    ],
)
def test_what_merely_looks_like_it_stays(text):
    assert one(text) == text


def test_kinds_that_nobody_chose_stay():
    text = "ann@bank.example 4111111111111111"
    assert one(text, Rules((DataKind.CARD,))) == f"ann@bank.example {CARD}"
    assert one(text, NO_RULES) == text


def test_json_keeps_its_form_with_keys_and_long_numbers():
    worth = 3211111111118.0  # of a company; its checksum is that of a card
    card = 4111111111111111
    rest = [1.5, True, None, 12, 123456789012, worth, 10**30, 4e300]
    value = {"n": card, "m": [float(card), -card, *rest, {"ann@b.example": "+49 30 1234567"}]}
    assert one(value) == {"n": CARD, "m": [CARD, CARD, *rest, {MAIL: PHONE}]}


def test_the_number_of_an_account_is_known_by_the_name_of_its_member():
    value = {
        "account": 12345678,
        "accountNumber": "1234 5678",
        "client_account_no": ["12345678", "1234", None],
        "accounts": 12345678,
        "account_balance": 12345678,
        "account_id": True,
        "a" * 101 + "account": 12345678,
    }
    assert one(value) == value | {
        "account": ACCOUNT,
        "accountNumber": ACCOUNT,
        "client_account_no": [ACCOUNT, "1234", None],
    }
    assert one({"account": "1234\u200b5678"}) == {"account": ACCOUNT}
    assert one(value, Rules((DataKind.CARD,))) == value


def test_messages_keep_their_form():
    result = ResultMessage("f", {"a": "+49 30 1234567"}, (SourceData((DataItem(content="x"),)),))
    assert redact_values(
        [HumanMessage("I am ann@b.example"), result, ("a@b.example", "b")], ALL
    ) == [
        HumanMessage(f"I am {MAIL}"),
        replace(result, input_arguments={"a": PHONE}),
        (MAIL, "b"),
    ]


def test_files_in_base64_are_not_kept_as_nobody_reads_them():
    file = "JVBERi0xLjcK" * 50
    assert one({"content": file}) == {
        "content": "[a file of 600 characters in base64; it is not kept]"
    }
    assert one("A\n" * 300) == "A\n" * 300
    assert one("a word " * 100) == "a word " * 100


@given(st.text("ab@.0123456789 +-", max_size=60), st.integers(0, 60))
@example("x a@b.cd y", 4)
@example("a@b.cd a@b.cd end", 17)
def test_places_move_with_the_text_around_them(text, offset):
    found = redact_texts([text], ALL)[text]
    offset = min(offset, len(text))
    before = redact_texts([text[:offset]], NO_RULES)[text[:offset]]
    assert before == RedactedText(text[:offset])
    inside = any(start < offset < end for start, end, _ in found.cuts)
    rest = sum(end - start - len(words) for start, end, words in found.cuts if start >= offset)
    if not inside:
        assert len(text) - offset == len(found.text) - found.moved(offset) + rest


# Own expressions.


def test_matches_of_expressions_are_removed():
    rules = Rules((DataKind.EMAIL,), (r"CUST-\d{6}", "Ann|Ann Lee"))
    text = "Ann Lee (CUST-123456) has a@b.example"
    assert one(text, rules) == f"[redacted] Lee ([redacted]) has {MAIL}"
    assert one({"a": "CUST-000000", "b": 1}, rules) == {"a": "[redacted]", "b": 1}


def test_a_search_that_takes_too_long_stores_a_sentence_instead_of_the_text(monkeypatch, caplog):
    monkeypatch.setattr(rules_module, "SEARCH_SECONDS", 0.1)
    rules = Rules((), (r"(?:a|aa)+$",))
    text = "a" * 60 + "!"
    assert redact_values([text, {"k": text}, 7], rules) == [
        NOT_STORED,
        {NOT_STORED: NOT_STORED},
        7,
    ]
    redacted = redact_texts([text, ""], rules)
    unsearched = RedactedText(NOT_STORED, is_stored=False)
    assert redacted == {text: unsearched, "": RedactedText("")}
    assert unsearched.moved(5) == 0
    assert "texts are not stored" in caplog.text


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("CUST-[0-9]{6}", ""),
        (r"(?<=ID )[A-Z]{2}\d{1,10}", ""),
        ("(", "This is not a valid regular expression"),
        ("x*", "It also matches an empty text"),
        ("x" * 301, "An expression has 300 characters at most."),
    ],
)
def test_a_wrong_expression_is_explained(expression, words):
    assert str(expression_fault(expression)).startswith(words)
    assert bool(expression_fault(expression)) == bool(words)


def test_a_server_and_a_copilot_choose_together(settings):
    settings.REDACTION = (("card",), ("x",))
    assert server_rules() == Rules((DataKind.CARD,), ("x",))
    assert rules_for(["email", "of-a-later-release"], ["y", "x"]) == Rules(
        (DataKind.CARD, DataKind.EMAIL), ("x", "y")
    )
    settings.REDACTION = ((), ())
    assert not server_rules()
