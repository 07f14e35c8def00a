"""`manage.py prices`."""

from datetime import UTC, date, datetime
from decimal import Decimal
import io
import json
from pathlib import Path
from typing import Any

from django.core.cache import cache
from django.core.management import call_command
import pytest

from copilot_admin.copilots.providers import keep_models
from copilot_admin.models import AuditEntry, ModelPrice, Outcome, Provider, Run
from tests.factories import make_provider
from tests.pricing.pricing import make_price
from tests.transcripts.store.journaling import Client as Journaling
from tests.transcripts.store.journaling import ending

pytestmark = pytest.mark.django_db
GOOD = {"input_cost_per_token": 2e-06, "output_cost_per_token": 8e-06}


@pytest.fixture
def cloud() -> Provider:
    cache.clear()
    return make_provider(name="Cloud", kind="openai_compatible", base_url="http://127.0.0.1:9/v1")


def run(file: Path | str, *options: str) -> list[str]:
    out = io.StringIO()
    call_command("prices", "import", str(file), *options, stdout=out)
    return out.getvalue().splitlines()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    models: dict[str, Any] = {
        "sample_spec": {},
        "gpt": GOOD,
        "old": {**GOOD, "litellm_provider": "openai", "output_cost_per_reasoning_token": 1e-05},
        **{f"image-{n}": {"mode": "image_generation"} for n in range(6)},
    }
    path = tmp_path / "prices.json"
    path.write_text(json.dumps(models))
    return path


SKIPPED = [
    "skipped: 7",
    "  6: It is not for text. (image-0, image-1, image-2, image-3, image-4, ...)",
    "  1: It is the example in the file. (sample_spec)",
]


def test_an_import_says_what_is_new_changed_same_and_skipped(cloud: Provider, file: Path):
    make_price(cloud, model="old")
    assert run(file, "--provider", "cloud", "--all", "--from", "2026-06-01") == [
        "gpt: new, input 2, output 8",
        "old: changed, input 2, output 8, reasoning 10 (before: input 2, output 8)",
        "new: 1",
        "changed: 1",
        "same: 0",
        *SKIPPED,
    ]
    assert cloud.prices.filter(valid_from=date(2026, 6, 1)).count() == 2
    assert run(file, "--provider", "Cloud", "--all", "--from", "2026-06-01")[:3] == [
        "new: 0",
        "changed: 0",
        "same: 2",
    ]


def test_without_more_only_listed_models_are_taken_from_today_on(cloud: Provider, file: Path):
    keep_models(cloud.pk, ("gpt",))
    before = datetime.now(UTC).date()
    run(file, "--provider", "Cloud")
    row = ModelPrice.objects.get()
    assert row.model == "gpt"
    assert before <= row.valid_from <= datetime.now(UTC).date()


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
