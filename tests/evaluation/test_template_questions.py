"""Every shipped template brings questions whose answers are as expected, also in a rehearsal."""

import pytest

from copilot_admin.evaluation.question_check import check_questions
from copilot_admin.import_export.importing import import_file
from copilot_admin.import_export.templates import FOLDER, make_copilot, templates
from copilot_admin.models import Copilot, Judgement, Side

pytestmark = pytest.mark.django_db(transaction=True)


def looked_at(copilot: Copilot) -> None:
    told = [
        (saved.question, result.verdict) for saved, result in check_questions(copilot, Side.DRAFT)
    ]
    assert 2 <= len(told) <= 3
    assert {verdict.judgement for _, verdict in told} == {Judgement.AS_EXPECTED}, told


@pytest.mark.parametrize("slug", templates())
def test_its_questions_are_answered_as_expected(slug):
    looked_at(make_copilot(templates()[slug], slug=slug, access="open"))


def test_what_a_new_server_starts_with_brings_some_too():
    import_file((FOLDER.parent / "copilots.yaml").read_bytes(), default_access="open")
    for copilot in Copilot.objects.select_related("provider"):
        looked_at(copilot)
