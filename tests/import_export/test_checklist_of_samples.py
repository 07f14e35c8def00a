"""The checklist has nothing to say of what the product brings along, as people get it."""

from django.core.cache import cache
import pytest

from copilot_admin.copilots.providers import fetch_models
from copilot_admin.copilots.publishing import checklist
from copilot_admin.import_export.importing import import_file
from copilot_admin.import_export.templates import (
    find_default_provider,
    make_copilot,
    template_named,
    templates,
)
from copilot_admin.models import Access, Copilot
from copilot_admin.server.first_start import SAMPLES
from tests.factories import make_key

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def nothing_kept() -> None:
    cache.clear()


@pytest.mark.database
def test_of_the_samples():
    import_file(SAMPLES.read_bytes(), default_access=Access.KEY, user=None)
    fetch_models(find_default_provider())
    said = {copilot.slug: checklist(copilot) for copilot in Copilot.objects.all()}
    assert said == {"market-brief": (), "table-and-chart-desk": (), "portfolio-commentary": ()}


@pytest.mark.parametrize("slug", sorted(templates()))
@pytest.mark.parametrize("switched", ["", "demo"])
def test_of_a_template(slug, switched):
    make_key()
    fetch_models(find_default_provider())
    template = template_named(slug)
    copilot = make_copilot(template, slug=slug, access=Access.KEY, switched_model=switched)
    assert checklist(copilot) == ()
