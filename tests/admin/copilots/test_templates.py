"""Templates: a gallery, a preview, and a draft with one click."""

from django.test import Client
import pytest

from copilot_admin.import_export.templates import TemplateGroup, templates
from copilot_admin.models import Access, Copilot
from tests.admin.pages import submit
from tests.factories import make_provider

pytestmark = pytest.mark.django_db
GALLERY = "/admin/copilot_admin/copilot/templates/"
CHARTS = f"{GALLERY}charts/"


def test_the_gallery_has_a_card_for_each_template(builder: Client) -> None:
    page = builder.get(GALLERY).content.decode()
    for slug in templates():
        assert page.count(f'data-template="{slug}"') == 1
        assert page.count(f'action="{GALLERY}{slug}/"') == 1
    jobs = [one for one in templates().values() if one.group is TemplateGroup.JOBS]
    assert len(jobs) >= 10
    assert all(f"{one.slug}.png" in page for one in jobs)


@pytest.mark.parametrize("slug", templates())
def test_a_preview_shows_instructions_and_a_rendered_answer(builder: Client, slug: str) -> None:
    page = builder.get(f"{GALLERY}{slug}/").content.decode()
    template = templates()[slug]
    assert template.sample is not None
    assert 'class="ca-msg ca-prose"' in page
    assert page.count('class="ca-chart"') == bool(template.sample.chart)


@pytest.mark.parametrize("kind", ["demo", "real"])
def test_one_click_makes_a_draft_and_opens_the_editor(builder: Client, kind: str) -> None:
    make_provider(name="Demo")
    if kind == "real":
        models = ["text-embedding-3-small", "gpt-4o-mini"]
        url = "http://127.0.0.1:9/v1"
        make_provider(name="Old", kind="openai_compatible", base_url=url, model_ids=models)
        make_provider(name="Real", kind="openai_compatible", base_url=url, model_ids=models)
        make_provider(name="Unchecked", kind="openai_compatible", base_url=url)
    response = submit(builder, f"{GALLERY}morning-note/", {}, form_id="template-form")
    copilot = Copilot.objects.get()
    assert response.redirect_chain[-1][0] == f"/admin/copilot_admin/copilot/{copilot.pk}/change/"
    expected = {"demo": ("Demo", "demo"), "real": ("Real", "gpt-4o-mini")}[kind]
    assert (copilot.provider.name, copilot.model) == expected
    assert (copilot.slug, copilot.access, copilot.live) == ("morning-note", Access.KEY, None)
    assert copilot.image.name
