"""New from template: a gallery, a few questions, and a draft."""

from django.test import Client
from django.utils import timezone
import pytest

from copilot_admin.admin.copilots import templates as views
from copilot_admin.config.roles import Role
from copilot_admin.import_export.templates import Template, templates
from copilot_admin.models import Access, Copilot
from tests.admin.pages import submit, values_in
from tests.factories import make_copilot, make_provider, make_user

pytestmark = pytest.mark.django_db
GALLERY = "/admin/copilot_admin/copilot/templates/"
CHARTS = f"{GALLERY}charts/"
FORM = "template-form"


@pytest.fixture
def builder(client: Client) -> Client:
    client.force_login(make_user(Role.BUILDERS))
    return client


def test_the_gallery_shows_every_template_with_what_makes_it(builder: Client) -> None:
    page = builder.get(GALLERY).content.decode()
    for template in templates().values():
        assert f'href="{GALLERY}{template.slug}/"' in page
        assert template.name in page
    assert "Made by the tool &quot;chart&quot;." in page


def test_the_gallery_says_what_each_needs_and_shows_a_sample_answer(builder: Client) -> None:
    page = builder.get(GALLERY).content.decode()
    assert page.count("A sample answer</summary>") == len(templates())
    assert "MCP servers that the user has connected" in page
    assert "a question, nothing else" in page
    assert "<strong>Performance.</strong>" in page
    drawn = [one for one in templates().values() if one.sample and one.sample.chart]
    assert drawn
    assert page.count('<svg class="ca-chart"') == len(drawn)
    assert "What was the latest close?" in builder.get(CHARTS).content.decode()


def test_a_template_with_nothing_but_a_copilot_is_shown_all_the_same(
    builder: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = Template(slug="bare", summary="", entry={"name": "<b>Bare"})
    monkeypatch.setattr(views, "templates", lambda: {"bare": bare})
    page = builder.get(GALLERY).content.decode()
    assert "&lt;b&gt;Bare" in page
    assert "A sample answer" not in page


def test_the_gallery_is_found_from_the_start_page_and_from_the_list(builder: Client) -> None:
    for url in ("/admin/", "/admin/copilot_admin/copilot/"):
        assert f'href="{GALLERY}"' in builder.get(url).content.decode()


def test_a_copy_is_a_draft_that_opens_in_its_form(builder: Client) -> None:
    make_provider(name="Rehearsal")
    response = submit(builder, CHARTS, {}, form_id=FORM)
    copilot = Copilot.objects.get()
    assert response.redirect_chain[-1][0] == f"/admin/copilot_admin/copilot/{copilot.pk}/change/"
    assert "is a draft now" in response.content.decode()
    assert (copilot.slug, copilot.name, copilot.model, copilot.access, copilot.live) == (
        "charts",
        "Charts",
        "rehearsal",
        Access.KEY,
        None,
    )
    assert copilot.tools == ["chart"]


def test_provider_model_slug_and_access_are_chosen(builder: Client) -> None:
    provider = make_provider(
        name="local", kind="openai_compatible", base_url="http://127.0.0.1:9/v1"
    )
    changes = {"slug": "my-charts", "model": "m", "access": "open", "provider": provider.pk}
    submit(builder, CHARTS, changes, form_id=FORM)
    copilot = Copilot.objects.get()
    assert (copilot.slug, copilot.provider, copilot.model, copilot.access) == (
        "my-charts",
        provider,
        "m",
        "open",
    )


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"slug": "taken"}, "The slug &#x27;taken&#x27; is taken. Choose another."),
        ({"slug": "A b"}, "Use lower-case letters and digits"),
        ({"slug": ""}, "This field is required."),
        ({"model": ""}, "Name a model of this provider."),
        ({"model": "\u202em"}, "the invisible sign U+202E turns the direction"),
    ],
)
def test_what_is_wrong_is_said_next_to_the_field(
    builder: Client, changes: dict[str, str], sentence: str
) -> None:
    provider = make_provider(
        name="local", kind="openai_compatible", base_url="http://127.0.0.1:9/v1"
    )
    make_copilot(slug="taken", provider=provider)
    given = {"provider": provider.pk, "model": "m", **changes}
    response = submit(builder, CHARTS, given, form_id=FORM)
    assert sentence in response.content.decode()
    assert Copilot.objects.count() == 1


def test_a_taken_slug_is_not_proposed(builder: Client) -> None:
    make_copilot(slug="charts")
    assert 'value="charts-2"' in builder.get(CHARTS).content.decode()


def test_a_template_that_is_none_is_not_found(builder: Client) -> None:
    assert builder.get(f"{GALLERY}telepathy/").status_code == 404


def test_who_may_add_no_copilot_may_copy_none(client: Client) -> None:
    make_provider(name="Rehearsal")
    client.force_login(make_user(Role.REVIEWERS))
    assert client.get(GALLERY).status_code == 403
    assert client.get(CHARTS).status_code == 403
    assert client.post(CHARTS, {"slug": "a"}).status_code == 403
    assert not Copilot.objects.exists()


def test_the_model_of_the_newest_draft_is_proposed_and_those_that_are_known(
    builder: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    vendor = make_provider(kind="openai_compatible", base_url="https://llm.example/v1")
    monkeypatch.setattr(views, "known_models", lambda pk: ("m-1", "m-2") * (pk == vendor.pk))
    page = builder.get(CHARTS).content.decode()
    assert values_in(page, form_id=FORM)["model"] == [""]
    assert '<option value="m-2"></option>' in page
    make_copilot(provider=vendor, model="older")
    make_copilot(provider=vendor, model="m-1")
    make_copilot(provider=vendor, model="put-away", enabled=False, archived_at=timezone.now())
    values = values_in(builder.get(CHARTS).content.decode(), form_id=FORM)
    assert values["model"] == ["m-1"]
    builder.post(CHARTS, values)
    assert Copilot.objects.get(slug="charts").model == "m-1"
