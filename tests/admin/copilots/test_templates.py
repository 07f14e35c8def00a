"""New from template: a gallery, a few questions, and a draft."""

from django.test import Client
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.import_export.templates import templates
from copilot_admin.models import Access, Copilot
from tests.admin.pages import submit
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


def test_who_may_add_no_copilot_may_copy_none(client: Client) -> None:
    make_provider(name="Rehearsal")
    client.force_login(make_user(Role.REVIEWERS))
    assert client.get(GALLERY).status_code == 403
    assert client.get(CHARTS).status_code == 403
    assert client.post(CHARTS, {"slug": "a"}).status_code == 403
    assert not Copilot.objects.exists()
