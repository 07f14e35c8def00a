"""Documents of many writers are read: every part in order, nothing twice, and errors say why."""

import pytest

from copilot_admin.agent.documents.document import UnreadableFile
from tests.agent.documents.corpus import CASES
from tests.agent.documents.corpus.case import Case, read_document

READABLE = [case for case in CASES if not case.error]
BROKEN = [case for case in CASES if case.error]


def name_of(case: Case) -> str:
    return f"{case.data_type}: {case.name}"


def check(case: Case, text: str) -> None:
    place = 0
    for part in case.must:
        found = text.find(part, place)
        assert found >= 0, f"{part!r} is missing, or not in order, in:\n{text}"
        place = found
    for part in case.must_not:
        assert part not in text
    for part in case.once:
        assert text.count(part) == 1, f"{part!r} is there {text.count(part)} times in:\n{text}"


@pytest.mark.parametrize("case", READABLE, ids=name_of)
def test_a_document_is_read(case: Case) -> None:
    check(case, read_document(case.build(), data_type=case.data_type).text)


@pytest.mark.parametrize("case", BROKEN, ids=name_of)
def test_a_document_that_cannot_be_read_says_why(case: Case) -> None:
    with pytest.raises(UnreadableFile) as error:
        read_document(case.build(), data_type=case.data_type)
    assert case.error in error.value.public
