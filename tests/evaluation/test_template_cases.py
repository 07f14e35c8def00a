"""The test cases of shipped templates pass, also with the demo model."""

import pytest

from copilot_admin.import_export.importing import import_file
from copilot_admin.import_export.templates import FOLDER, make_copilot, templates
from copilot_admin.models import Copilot, EvaluationResult
from tests.evaluation.evaluations import evaluate

pytestmark = pytest.mark.django_db(transaction=True)


def check(copilot: Copilot) -> None:
    cases = list(copilot.test_cases.all())
    assert 2 <= len(cases) <= 3
    evaluate(cases[0])
    results = EvaluationResult.objects.filter(run__copilot=copilot)
    assert {row.verdict for row in results} == {"passed"}, [
        (row.outcomes, row.error) for row in results
    ]


@pytest.mark.parametrize("slug", templates())
def test_a_template_passes_its_tests(slug):
    check(make_copilot(templates()[slug], slug=slug, access="open"))


def test_the_copilots_of_a_new_server_pass_their_tests():
    import_file((FOLDER.parent / "copilots.yaml").read_bytes(), default_access="open")
    for copilot in Copilot.objects.select_related("provider"):
        check(copilot)
