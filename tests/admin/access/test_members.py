"""Members of a copilot: every address of it, asked by everybody who may or may not know of it."""

from collections.abc import Iterator
from typing import Any

from django.contrib.auth.models import User
from django.urls import get_resolver, reverse
import pytest

from copilot_admin.accounts.members import assign_owner, is_reachable, may_say_who, reachable
from copilot_admin.config.roles import Role
from copilot_admin.models import Copilot, Membership
from tests.admin.access.test_roles import everything
from tests.factories import make_case, make_copilot, make_published, make_user, sign_in

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
    client = sign_in(make_user(*groups))
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
    member = make_user(Role.BUILDERS)
    Membership.objects.create(copilot=copilot, user=member)
    operator = make_user(Role.BUILDERS, Role.OPERATORS)
    browsers = [sign_in(one) for one in (owner, member, operator, make_user(is_superuser=True))]
    for name, _ in ROUTES:
        url = address(name, copilot)
        assert len({one.get(url).status_code for one in browsers}) == 1, name


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
    page = sign_in(make_user(Role.BUILDERS)).get(place)
    assert page.status_code == 200
    assert b"Secret plan" not in page.content
    assert b"Secret plan" in sign_in(owner).get(place).content


CHOSEN = ("publish_chosen", "duplicate_chosen", "disable_chosen", "archive_chosen")


@pytest.mark.parametrize(
    ("page", "sent"),
    [
        *((page, {"tags": "mine"}) for page in ("publish", "archive", "tags", "preview")),
        *(("changelist", {"action": one}) for one in (*CHOSEN, "delete_selected")),
        ("export", {"slug": "secret-plan", "format": "yaml"}),
    ],
)
def test_pages_that_take_ids_take_none_of_others(copilot, page, sent) -> None:
    client = sign_in(make_user(Role.BUILDERS))
    before = everything()
    url = f"{reverse(f'admin:copilot_admin_copilot_{page}')}?id={copilot.pk}"
    chosen = {"draft": f"{copilot.pk}:x", "id": copilot.pk, "_selected_action": [copilot.pk]}
    for answer in (
        client.get(url),
        client.post(url, {**chosen, "post": "yes", "sure": "1", **sent}),
    ):
        assert b"Secret plan" not in answer.content
    assert everything() == before


def test_an_import_changes_no_copilot_of_others(copilot) -> None:
    client = sign_in(make_user(Role.BUILDERS))
    from django.core.files.uploadedfile import SimpleUploadedFile

    text = f"format: 1\ncopilots:\n- slug: secret-plan\n  name: Mine now\n  provider: {copilot.provider.name}\n  model: demo\n"
    url = reverse("admin:copilot_admin_copilot_import")
    sent = {"copilot_files": SimpleUploadedFile("a.yaml", text.encode())}
    page = client.post(url, sent, follow=True).content.decode()
    assert "already used" in page
    copilot.refresh_from_db()
    assert copilot.name == "Secret plan"


def test_who_makes_a_copilot_owns_it_and_nobody_else_sees_it() -> None:
    maker = make_user(Role.BUILDERS)
    url = reverse("admin:copilot_admin_copilot_from_template", args=["charts"])
    sign_in(maker).post(url)
    made = Copilot.objects.get(slug="charts")
    member = Membership.objects.get(copilot=made)
    assert (member.user, member.is_owner, made.is_for_all_builders) == (maker, True, False)
    assert not is_reachable(make_user(Role.BUILDERS), made.pk)


def test_without_the_setting_all_builders_work_on_all(copilot, settings) -> None:
    settings.MEMBERS = False
    stranger = make_user(Role.BUILDERS)
    assert list(reachable(stranger)) == [copilot]
    url = reverse("admin:copilot_admin_copilot_members", args=[copilot.pk])
    assert sign_in(stranger).get(url).status_code == 404
    assign_owner(other := make_copilot(), stranger)
    assert other.is_for_all_builders is True


def say(actor: User, copilot: Copilot, **sent: Any) -> Any:
    url = reverse("admin:copilot_admin_copilot_members", args=[copilot.pk])
    client = sign_in(actor)
    return client.post(url, sent, follow=True) if sent else client.get(url)


def test_an_owner_adds_and_removes_members(copilot, owner) -> None:
    ann = make_user(Role.BUILDERS, username="ann")
    assert b">ann" in say(owner, copilot, add="1", user="ann").content
    assert is_reachable(ann, copilot.pk)
    page = say(owner, copilot, remove=Membership.objects.get(user=ann).pk)
    assert b'value="ann"' in page.content  # proposed again, no member
    assert not is_reachable(ann, copilot.pk)
    assign_owner(other := make_copilot(), ann)
    assert say(owner, copilot, remove=other.memberships.get().pk).status_code == 404


def test_a_member_reads_the_page_and_changes_nobody(copilot) -> None:
    ann = make_user(Role.BUILDERS)
    Membership.objects.create(copilot=copilot, user=ann)
    page = say(ann, copilot).content.decode()
    assert ("owner" in page, "members-form" in page) == (True, False)
    assert say(ann, copilot, add="1", user=ann.username, owner="on").status_code == 403
    assert not may_say_who(ann, copilot)


@pytest.mark.parametrize("name", ["nobody-like-that", "reviewer", ""])
def test_only_who_works_on_copilots_can_be_added(copilot, owner, name) -> None:
    make_user(Role.REVIEWERS, username="reviewer")
    assert b"ca-note--bad" in say(owner, copilot, add="1", user=name).content
    assert copilot.memberships.count() == 1


def test_the_last_owner_stays(copilot, owner) -> None:
    row = copilot.memberships.get()
    assert b"ca-note--bad" in say(owner, copilot, remove=row.pk).content
    ann = make_user(Role.BUILDERS, username="ann")
    say(owner, copilot, add="1", user="ann", owner="on")
    say(owner, copilot, remove=row.pk)
    assert [one.user for one in copilot.memberships.all()] == [ann]


def test_it_is_opened_to_all_builders_and_closed_again(copilot, owner) -> None:
    stranger = make_user(Role.BUILDERS)
    for sent, is_open in (({"everybody": "1"}, True), ({"members-only": "1"}, False)):
        say(owner, copilot, **sent)
        assert is_reachable(stranger, copilot.pk) is is_open


def test_a_question_of_a_transcript_goes_to_no_copilot_of_others(copilot) -> None:
    from django.utils import timezone

    from copilot_admin.models import Conversation

    now = timezone.now()
    conversation = Conversation.objects.create(
        copilot=copilot, principal="anonymous", first_at=now, last_at=now
    )
    client = sign_in(make_user(Role.BUILDERS, Role.REVIEWERS))
    url = reverse("admin:copilot_admin_conversation_keep", args=[conversation.pk, 1])
    assert client.post(url).status_code == 403
    listed = reverse("admin:copilot_admin_conversation_learn")
    page = client.post(listed, {"chosen": conversation.pk, "_save": "1"})
    assert page.context["n_saved"] == 0
