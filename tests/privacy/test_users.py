"""A user is erased or held by his id, his address or his name, and one of many leaves the others as they were."""

from datetime import timedelta

import pytest

from copilot_admin import models
from copilot_admin.copilots.end_users import AskingUser
from copilot_admin.jobs.removal import begin_erasure, remove_batch
from copilot_admin.jobs.tasks import BatchResult
from copilot_admin.models import CallerDay, Conversation, EndUser, Outcome, Run
from copilot_admin.privacy import holds
from copilot_admin.privacy.rows import preview_removal
from copilot_admin.privacy.scopes import PrivacyScope
from copilot_admin.transcripts.end_users import find_user, save_end_user
from tests.factories import make_call, make_version
from tests.jobs.test_removal import remove
from tests.transcripts.store.journaling import START, Client, ai

pytestmark = [pytest.mark.database, pytest.mark.django_db]

ADA = AskingUser(id="ada", email="Ada@b.example", name="Ada")


def user(identifier, **more):
    return EndUser.objects.get(pk=save_end_user(AskingUser(id=identifier, **more), at=START))


def of_user(row):
    """Everything that refers to a user, or names him."""
    return {
        "conversations": list(Conversation.objects.filter(user=row).values_list("pk", flat=True)),
        "runs": set(Run.objects.filter(user=row).values_list("pk", flat=True)),
        "calls": list(models.ComponentCall.objects.filter(user=row).values_list("pk", flat=True)),
        "days": list(
            CallerDay.objects.filter(principal=f"user:{row.pk}").values_list("pk", flat=True)
        ),
        "limits": models.SubjectLimits.objects.filter(scope="user", subject=row.identifier).count(),
        "row": EndUser.objects.filter(pk=row.pk).count(),
    }


class TestWhoIsMeant:
    @pytest.mark.parametrize(
        "typed", ["ada", " ada ", "id:ada", "Ada@b.example", "ADA@B.EXAMPLE", "Ada L."]
    )
    def test_an_id_an_address_or_a_name_is_one_user(self, typed):
        ada = user("ada", email="Ada@b.example", name="Ada L.")
        user("eve", email="eve@b.example", name="Eve")
        assert find_user(typed) == ada
        assert find_user(ada.digest) == ada

    def test_somebody_whose_id_is_anothers_address_can_be_meant_alone(self):
        by_id, by_address = user("s@b.example"), user("s", email="S@b.example")
        with pytest.raises(ValueError, match=r"called that: id:s@b.example, id:s\. Type"):
            find_user("s@b.example")
        assert find_user("id:s@b.example") == by_id
        assert find_user("id:s") == by_address


def test_an_erased_user_who_returns_is_a_new_user():
    version = make_version()
    asked = Client(version=version, user=ADA, trace_id="chat").ask("Hello").answer("Hi.")
    before = asked.conversation.user
    remove(PrivacyScope(user=before.pk))
    again = Client(user=ADA, trace_id="chat", version=version)
    talk = again.ask("Hello", ai("Hi."), "More").answer("Yes.").conversation
    assert (talk.pk != asked.accepted.conversation_id, talk.user.pk != before.pk) == (True, True)
    assert EndUser.objects.get().identifier == "ada"


def test_the_row_of_a_user_stays_if_only_a_period_or_copilot_is_erased():
    version = make_version()
    old = Client(version=version, user=ADA, trace_id="old", now=START - timedelta(days=9))
    old.ask("q").answer("a")
    new = Client(version=version, user=ADA, trace_id="new").ask("q").answer("a").conversation
    remove(PrivacyScope(user=new.user_id, until=START - timedelta(days=1)))
    assert Conversation.objects.get() == new and EndUser.objects.exists()
    remove(PrivacyScope(user=new.user_id, copilot=version.copilot_id))
    assert not Conversation.objects.exists()
    assert not CallerDay.objects.filter(principal=f"user:{new.user_id}").exists()


def test_erasure_waits_for_runs_without_a_conversation():
    version = make_version()
    who = user("ada")
    run = Run.objects.create(
        copilot=version.copilot, user=who, principal="anonymous", started_at=START,
        outcome=Outcome.RUNNING, generation=3, boot_id="b", heartbeat_at=START,
    )  # fmt: skip
    removal = begin_erasure(PrivacyScope(user=who.pk))
    assert remove_batch(removal.pk) is BatchResult.WAITING
    Run.objects.filter(pk=run.pk).update(outcome=Outcome.FAILED)
    remove(removal=removal)
    assert not EndUser.objects.exists() and not Run.objects.exists()


class TestHolds:
    def test_a_held_user_stays_with_all_that_he_asks(self):
        ada = Client(user=ADA, trace_id="a").ask("q").answer("a").conversation.user
        eve = Client(user=AskingUser(id="eve"), trace_id="e").ask("q").answer("a").conversation
        hold = holds.place(PrivacyScope(user=ada.pk), reason="Case", by="ann")
        make_call(user=ada)
        Client(user=ADA, trace_id="later").ask("q").answer("a")
        found = preview_removal(PrivacyScope(user=ada.pk))
        assert (found.conversations, found.held, found.calls, found.users) == (0, 2, 0, 0)
        before = of_user(ada)
        remove(PrivacyScope(user=ada.pk))
        remove(PrivacyScope(user=eve.user_id))
        assert of_user(ada) == before
        assert set(EndUser.objects.all()) == {ada}
        assert holds.release(hold.pk, by="ann")
        remove(PrivacyScope(user=ada.pk))
        assert not EndUser.objects.exists()

    def test_a_held_conversation_keeps_its_user(self):
        talk = Client(user=ADA, trace_id="a").ask("q").answer("a").conversation
        Client(user=ADA, trace_id="b").ask("q").answer("a")
        holds.place(PrivacyScope(conversation=talk.pk), reason="Case", by="ann")
        assert preview_removal(PrivacyScope(user=talk.user_id)).users == 0
        remove(PrivacyScope(user=talk.user_id))
        assert Conversation.objects.get().user == EndUser.objects.get()
