"""A draft that passes too few tests is not published, or only with a warning."""

import pytest

from copilot_admin.copilots.checklist.findings import FAILED_TESTS
from copilot_admin.copilots.publishing import NotPublishable, checklist, publish, republish
from copilot_admin.models import Copilot, PublishGate
from tests.factories import make_case, make_published, make_result

pytestmark = pytest.mark.django_db


def codes(copilot: Copilot) -> list[tuple[str, bool]]:
    draft = Copilot.objects.select_related("provider", "live__provider").get(pk=copilot.pk)
    return [(one.code, one.is_error) for one in checklist(draft) if one.code == FAILED_TESTS]


def test_without_a_requirement_nothing_is_checked():
    case = make_case(make_published())
    make_result(case, "failed")
    assert codes(case.copilot) == []


@pytest.mark.parametrize(("is_blocking", "found"), [(True, True), (False, False)])
def test_a_requirement_that_is_not_reached_blocks_or_warns(is_blocking, found):
    copilot = make_published(system_prompt="One")
    Copilot.objects.update(system_prompt="Two")
    copilot.refresh_from_db()
    gate = PublishGate.objects.create(copilot=copilot, min_percent=50, is_blocking=is_blocking)
    assert codes(copilot) == [(FAILED_TESTS, found)]  # there are no tests
    first, second = make_case(copilot), make_case(copilot)
    make_result(first, "failed")
    make_result(second, "inconclusive")
    assert codes(copilot) == [(FAILED_TESTS, found)]
    if is_blocking:
        with pytest.raises(NotPublishable):
            publish(copilot, user=None)
    make_result(first, "passed")
    assert codes(copilot) == []
    gate.min_percent = 51
    gate.save()
    assert codes(copilot) == [(FAILED_TESTS, found)]


def test_only_results_of_the_current_draft_and_test_count():
    case = make_case(make_published())
    PublishGate.objects.create(copilot=case.copilot, min_percent=100)
    make_result(case)
    assert codes(case.copilot) == []
    case.save()  # changed since
    assert codes(case.copilot) == [(FAILED_TESTS, True)]
    make_result(case)
    Copilot.objects.update(system_prompt="Other")
    assert codes(case.copilot) == [(FAILED_TESTS, True)]


def test_rolling_back_needs_no_tests():
    copilot = make_published(system_prompt="One")
    first = copilot.live
    Copilot.objects.update(system_prompt="Two")
    copilot.refresh_from_db()
    assert publish(copilot, user=None)
    PublishGate.objects.create(copilot=copilot, min_percent=100)
    version = republish(first, user=None)
    assert version is not None and version.number == 3
