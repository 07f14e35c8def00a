"""Members of a copilot: every address of it, asked by everybody who may or may not know of it."""

from collections.abc import Iterator
from typing import Any

from django.contrib.auth.models import User
from django.test import Client
from django.urls import get_resolver, reverse
import pytest

from copilot_admin.accounts.members import assign_owner, is_reachable, may_say_who, reachable
from copilot_admin.config.roles import Role
from copilot_admin.models import Copilot, Membership
from tests.admin.access.test_roles import everything
from tests.factories import make_case, make_copilot, make_published, make_user

pytestmark = pytest.mark.django_db
# What an address of a copilot is filled with besides its id; what is not there is a 404 for all.
NUMBER = 1


@pytest.fixture(autouse=True)
def _members(settings: Any) -> None:
    settings.MEMBERS = True


def routes() -> Iterator[tuple[str, str]]:
    """Name and route of each address that has the id of a copilot, of the whole server."""
    found = get_resolver()
    for namespace in ("connect", "playground"):
        _prefix, resolver = found.namespace_dict[namespace]
        for name in {key for key in resolver.reverse_dict if isinstance(key, str)}:
            yield f"{namespace}:{name}", name
    _prefix, resolver = found.namespace_dict["admin"]
    for name in sorted({key for key in resolver.reverse_dict if isinstance(key, str)}):
        possibilities = resolver.reverse_dict.getlist(name)
        parameters = possibilities[0][0][0][1]
        if name.startswith("copilot_admin_copilot_") and parameters[:1] in (["pk"], ["object_id"]):
            yield f"admin:{name}", name


ROUTES = sorted(routes())
OF_OPERATORS = ("connect:allow", "connect:forbid", "connect:key")


def address(name: str, copilot: Copilot) -> str:
    """An address of a copilot, with the first of everything that it has."""
    for length in range(1, 4):
        try:
            return reverse(name, args=[copilot.pk, *[NUMBER] * (length - 1)])
        except Exception:  # noqa: BLE001, S112  # how many it takes says only the attempt
            continue
    raise AssertionError(name)


def browser(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def owner() -> User:
    return make_user(Role.BUILDERS, username="owner")


@pytest.fixture
def copilot(owner: User) -> Copilot:
    made = make_published(name="Secret plan", slug="secret-plan", tags=["hush"])
    make_case(made, "What is secret?")
    assign_owner(made, owner)
    return made


@pytest.mark.usefixtures("same_person")
@pytest.mark.parametrize("method", ["get", "post"])
@pytest.mark.parametrize(
    "groups", [[Role.BUILDERS], [Role.BUILDERS, Role.PUBLISHERS], [Role.BUILDERS, Role.REVIEWERS]]
)
def test_who_is_no_member_finds_nothing_at_any_address(copilot, groups, method) -> None:
    client = browser(make_user(*groups))
    before = everything()
    for name, _ in ROUTES:
        answer = getattr(client, method)(address(name, copilot))
        # 405 and what builders may nowhere do is said of the address, whichever copilot it names.
        expected = (403, 404, 405) if name in OF_OPERATORS else (404, 405)
        assert answer.status_code in expected, name
        assert b"Secret plan" not in answer.content, name
    assert everything() == before


@pytest.mark.usefixtures("short_refusals", "statuses_alone", "same_person")
def test_members_and_who_reaches_every_copilot_find_what_the_owner_finds(copilot, owner) -> None:
    member, operator, superuser = (
        make_user(*groups)
        for groups in ([Role.BUILDERS], [Role.BUILDERS, Role.OPERATORS], [Role.BUILDERS])
    )
    Membership.objects.create(copilot=copilot, user=member)
    User.objects.filter(pk=superuser.pk).update(is_superuser=True)
    browsers = {
        "member": browser(member),
        "operator": browser(operator),
        "superuser": browser(User.objects.get(pk=superuser.pk)),
    }
    assert other_finds(browsers, browser(owner), copilot) == []


def other_finds(
    browsers: dict[str, Client], owner: Client, copilot: Copilot
) -> list[tuple[str, str]]:
    """Who gets at which address another answer than the owner."""
    found = []
    for name, _ in ROUTES:
        url = address(name, copilot)
        expected = owner.get(url).status_code
        found += [
            (who, name) for who, one in browsers.items() if one.get(url).status_code != expected
        ]
    return found


PLACES = (
    "/admin/",
    "/admin/copilot_admin/copilot/",
    "/admin/copilot_admin/copilot/?q=secret",
    "/admin/copilot_admin/copilot/?tag=hush",
    "/admin/copilot_admin/copilot/export/",
    "/admin/copilot_admin/copilot/export/?q=secret",
    "/admin/components/",
    "/admin/components/similar_question/v1/",
)


@pytest.mark.parametrize("place", PLACES)
def test_no_list_names_a_copilot_of_others(copilot, owner, place) -> None:
    Copilot.objects.filter(pk=copilot.pk).update(
        components=[{"name": "similar_question", "version": "v1"}]
    )
    page = browser(make_user(Role.BUILDERS)).get(place)
    assert page.status_code == 200
    assert b"Secret plan" not in page.content
    assert b"Secret plan" in browser(owner).get(place).content


@pytest.mark.parametrize("page", ["publish", "archive", "tags", "preview"])
def test_pages_that_take_ids_take_none_of_others(copilot, page) -> None:
    client = browser(make_user(Role.BUILDERS))
    before = everything()
    url = f"{reverse(f'admin:copilot_admin_copilot_{page}')}?id={copilot.pk}"
    sent = {"draft": f"{copilot.pk}:x", "tags": "mine", "id": copilot.pk}
    for answer in (client.get(url), client.post(url, sent)):
        assert b"Secret plan" not in answer.content
    assert everything() == before


@pytest.mark.parametrize(
    "action",
    ["publish_chosen", "duplicate_chosen", "disable_chosen", "archive_chosen", "delete_selected"],
)
def test_no_action_of_the_list_reaches_a_copilot_of_others(copilot, action) -> None:
    client = browser(make_user(Role.BUILDERS))
    before = everything()
    chosen = {"action": action, "_selected_action": [copilot.pk], "post": "yes", "sure": "1"}
    client.post(reverse("admin:copilot_admin_copilot_changelist"), chosen)
    assert everything() == before


def test_an_export_gives_no_copilot_of_others(copilot, owner) -> None:
    url = reverse("admin:copilot_admin_copilot_export")
    sent = {"slug": "secret-plan", "format": "yaml"}
    answer = browser(make_user(Role.BUILDERS)).post(url, sent)
    assert b"Secret plan" not in answer.content
    assert "One of them is not there any more." in answer.content.decode()
    assert b"Secret plan" in browser(owner).post(url, sent).content


def test_an_import_changes_no_copilot_of_others(copilot) -> None:
    client = browser(make_user(Role.BUILDERS))
    from django.core.files.uploadedfile import SimpleUploadedFile

    text = f"format: 1\ncopilots:\n- slug: secret-plan\n  name: Mine now\n  provider: {copilot.provider.name}\n  model: demo\n"
    url = reverse("admin:copilot_admin_copilot_import")
    sent = {"copilot_files": SimpleUploadedFile("a.yaml", text.encode())}
    page = client.post(url, sent, follow=True).content.decode()
    assert "already used" in page
    copilot.refresh_from_db()
    assert copilot.name == "Secret plan"


class TestOwning:
    def test_who_makes_a_copilot_owns_it_and_nobody_else_sees_it(self) -> None:
        maker = make_user(Role.BUILDERS)
        url = reverse("admin:copilot_admin_copilot_from_template", args=["charts"])
        browser(maker).post(url)
        made = Copilot.objects.get(slug="charts")
        member = Membership.objects.get(copilot=made)
        assert (member.user, member.is_owner, made.is_for_all_builders) == (maker, True, False)
        assert not is_reachable(make_user(Role.BUILDERS), made.pk)

    def test_without_the_setting_all_builders_work_on_all(self, copilot, settings) -> None:
        settings.MEMBERS = False
        stranger = make_user(Role.BUILDERS)
        assert list(reachable(stranger)) == [copilot]
        url = reverse("admin:copilot_admin_copilot_members", args=[copilot.pk])
        assert browser(stranger).get(url).status_code == 404
        assign_owner(other := make_copilot(), stranger)
        assert other.is_for_all_builders is True


class TestTheirPage:
    def url(self, copilot: Copilot) -> str:
        return reverse("admin:copilot_admin_copilot_members", args=[copilot.pk])

    def say(self, actor: User, copilot: Copilot, **sent: Any) -> Any:
        return browser(actor).post(self.url(copilot), sent, follow=True)

    def test_an_owner_adds_and_takes_away(self, copilot, owner) -> None:
        ann = make_user(Role.BUILDERS, username="ann")
        page = self.say(owner, copilot, add="1", user="ann")
        assert ">ann" in page.content.decode()
        assert is_reachable(ann, copilot.pk)
        row = Membership.objects.get(user=ann)
        page = self.say(owner, copilot, remove=row.pk)
        assert 'value="ann"' in page.content.decode()  # proposed again, no member
        assert not is_reachable(ann, copilot.pk)

    def test_a_member_reads_it_and_changes_nobody(self, copilot) -> None:
        ann = make_user(Role.BUILDERS)
        Membership.objects.create(copilot=copilot, user=ann)
        page = browser(ann).get(self.url(copilot)).content.decode()
        assert ("owner" in page, "members-form" in page) == (True, False)
        assert self.say(ann, copilot, add="1", user=ann.username, owner="on").status_code == 403
        assert not may_say_who(ann, copilot)

    @pytest.mark.parametrize("name", ["nobody-like-that", "reviewer", ""])
    def test_only_who_works_on_copilots_can_be_added(self, copilot, owner, name) -> None:
        make_user(Role.REVIEWERS, username="reviewer")
        page = self.say(owner, copilot, add="1", user=name).content.decode()
        assert "ca-note--bad" in page
        assert copilot.memberships.count() == 1

    def test_the_last_owner_stays(self, copilot, owner) -> None:
        row = copilot.memberships.get()
        page = self.say(owner, copilot, remove=row.pk).content.decode()
        assert "ca-note--bad" in page
        ann = make_user(Role.BUILDERS, username="ann")
        self.say(owner, copilot, add="1", user="ann", owner="on")
        self.say(owner, copilot, remove=row.pk)
        assert [one.user for one in copilot.memberships.all()] == [ann]

    def test_it_is_opened_to_all_builders_and_closed_again(self, copilot, owner) -> None:
        stranger = make_user(Role.BUILDERS)
        self.say(owner, copilot, everybody="1")
        assert is_reachable(stranger, copilot.pk)
        self.say(owner, copilot, **{"members-only": "1"})
        assert not is_reachable(stranger, copilot.pk)

    def test_a_member_of_another_copilot_is_not_removed_through_this_one(
        self, copilot, owner
    ) -> None:
        ann = make_user(Role.BUILDERS)
        assign_owner(other := make_copilot(), ann)
        assert self.say(owner, copilot, remove=other.memberships.get().pk).status_code == 404
        assert other.memberships.count() == 1


def test_a_question_of_a_transcript_goes_to_no_copilot_of_others(copilot) -> None:
    from django.utils import timezone

    from copilot_admin.models import Conversation

    now = timezone.now()
    conversation = Conversation.objects.create(
        copilot=copilot, principal="anonymous", first_at=now, last_at=now
    )
    client = browser(make_user(Role.BUILDERS, Role.REVIEWERS))
    url = reverse("admin:copilot_admin_conversation_keep", args=[conversation.pk, 1])
    assert client.post(url).status_code == 403
    listed = reverse("admin:copilot_admin_conversation_learn")
    page = client.post(listed, {"chosen": conversation.pk, "_save": "1"})
    assert page.context["n_saved"] == 0
