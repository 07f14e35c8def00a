"""What is known about drafts is gathered for all at once, and nobody is asked over a network."""

from datetime import timedelta

from django.core.cache import cache
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.utils import timezone
import pytest

from copilot_admin.copilots.checklist.check import all_checks
from copilot_admin.copilots.checklist.facts import facts_of
from copilot_admin.copilots.checklist.subject import DraftFacts
from copilot_admin.copilots.model_lists import fetch_models
from copilot_admin.copilots.publishing import NotPublishable, checklist, publish, publish_again
from copilot_admin.models import Access
from tests.factories import make_copilot, make_key, make_provider, make_published, make_user

pytestmark = [pytest.mark.database, pytest.mark.django_db]
THREE_QUERIES = 3  # two of keys, one of test runs
WEB = {"key": "web", "label": "Web", "type": "toggle", "model": "demo"}


@pytest.fixture(autouse=True)
def nothing_kept() -> None:
    cache.clear()


def test_keys_that_open_each_are_counted():
    one, other = (make_copilot(access=Access.KEY) for _ in range(2))
    make_key("for all")
    make_key("for one", copilots=(one,))
    make_key("for both", copilots=(one, other))
    make_key("expired", expires_at=timezone.now() - timedelta(days=1))
    assert [facts.keys for facts in facts_of([one, other])] == [3, 2]


def test_what_is_known_of_a_draft():
    provider = make_provider(name="Ours")
    make_provider(name="Theirs")
    fetch_models(provider)
    controls = [{**WEB, "provider": "theirs"}, {**WEB, "key": "b", "provider": "Nobody's"}]
    copilot = make_copilot(
        provider=provider,
        enabled=False,
        image_url="https://example.com/a.png",
        custom_features=controls,
    )
    assert facts_of([copilot]) == [
        DraftFacts(
            enabled=False,
            access=Access.OPEN,
            keys=0,
            models={"Ours": ("demo",)},
            unasked=("theirs",),
            missing_providers=frozenset({"Nobody's"}),
            has_image=False,
        )
    ]


def test_an_uploaded_image_is_looked_for_in_the_storage():
    name = default_storage.save("copilots/there.png", ContentFile(b"png"))
    there, gone, none = (
        make_copilot(image=name),
        make_copilot(image="copilots/no.png"),
        make_copilot(),
    )
    assert [one.has_image for one in facts_of([there, gone, none])] == [True, False, True]


@pytest.mark.parametrize("count", [1, 20])
def test_many_drafts_cost_as_many_queries_as_one(count, django_assert_num_queries):
    provider = make_provider()
    drafts = [make_copilot(provider=provider, access=Access.KEY) for _ in range(count)]
    with django_assert_num_queries(THREE_QUERIES):
        facts_of(drafts)


def test_an_error_stops_a_version_from_being_published_again():
    copilot = make_published(parameters={"temperature": 9})
    version = copilot.live
    copilot.parameters = {}
    copilot.save()
    publish(copilot, user=make_user())
    with pytest.raises(NotPublishable, match="a number from 0 to 2, not 9"):
        publish_again(version, user=make_user())


def test_a_command_publishes_what_an_earlier_release_published():
    copilot = make_copilot(system_prompt="{{ today", parameters={"temperature": 9})
    with pytest.raises(NotPublishable, match=r"not closed.*a number from 0 to 2, not 9"):
        publish(copilot, user=make_user())
    assert publish(copilot, user=None) is not None


def test_warnings_stop_nothing():
    copilot = make_copilot(parameters={"temperature": 1, "top_p": 1}, enabled=False)
    assert len(checklist(copilot)) > 1
    assert publish(copilot, user=make_user()) is not None


def test_every_check_is_found():
    names = [one.find.__name__ for one in all_checks()]
    assert len(names) > 30
    assert {"no_key", "without_effect", "image_out_of_reach", "unclosed"} < set(names)
