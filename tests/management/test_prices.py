"""`manage.py prices`."""

from datetime import date
from decimal import Decimal
import io
import json

from django.core.management import call_command
import pytest

from copilot_admin.models import AuditEntry, ModelPrice, Outcome, Run
from tests.factories import make_provider
from tests.pricing.pricing import make_price
from tests.transcripts.store.journaling import Client as Journaling
from tests.transcripts.store.journaling import ending

pytestmark = pytest.mark.django_db


class TestFill:
    """Requests that had no price when they ended."""

    @pytest.fixture(autouse=True)
    def _asked(self) -> None:
        row = make_provider(name="Provider", kind="openai_compatible")
        for _ in range(2):
            Journaling().ask("Hi").answer("Hello")  # of ten tokens read and five written
        Journaling().ask("Hi").answer("Hello", ended=ending(Outcome.CANCELLED))
        make_price(row, model="small-1")

    def fill(self, *options: str) -> list[str]:
        out = io.StringIO()
        call_command("prices", "fill", *options, stdout=out)
        return out.getvalue().splitlines()

    TOLD = (
        "Provider small-1: 2 exact, 1 estimated, 0.00018 dollars; unknown: 0 without a price for "
        "their day, 0 without token counts"
    )

    def test_the_default_is_a_dry_run(self):
        assert self.fill() == [self.TOLD, "Dry run: nothing changed. Re-run with --yes to apply."]
        assert not Run.objects.exclude(cost=None).exists()
        assert not AuditEntry.objects.exists()

    def test_costs_are_filled_with_yes_and_recorded(self):
        assert self.fill("--provider", "provider", "--yes") == [self.TOLD]
        assert sorted(Run.objects.values_list("cost", flat=True)) == [Decimal("0.00006")] * 3
        entry = AuditEntry.objects.get()
        assert (entry.action, entry.subject_name, json.loads(entry.after)) == (
            "changed",
            "Provider",
            {"costs filled": "small-1", "exact": 2, "estimated": 1, "dollars": "0.00018"},
        )
        assert self.fill("--yes") == ["The cost of every request is known."]

    def test_a_run_without_a_price_stays_unknown_and_is_reported(self):
        ModelPrice.objects.update(valid_from=date(2999, 1, 1))
        assert self.fill("--yes") == [
            "Provider small-1: 0 exact, 0 estimated, 0 dollars; unknown: 3 without a price for "
            "their day, 0 without token counts"
        ]
