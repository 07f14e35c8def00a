"""Test cases instead of saved questions; evaluation runs instead of their answers and replays.

Answers and replays aren't carried over: run the tests once to have results.
"""

from typing import Any

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import migrations, models

from copilot_admin.models.fields import OrderedJsonField

COST: dict[str, Any] = {"decimal_places": 12, "max_digits": 24, "null": True}
ID = models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")


def carry_over(apps: Any, _editor: object) -> None:
    """Put each expectation into a list, and the recorded answer next to it."""
    cases = apps.get_model("copilot_admin", "TestCase").objects
    answers = apps.get_model("copilot_admin", "RecordedAnswer").objects
    recorded = {pk: (turn, text) for pk, turn, text in answers.values_list("pk", "turn", "text")}
    for pk, expectation in cases.order_by("pk").values_list("pk", "expectation"):
        turn, text = recorded.get(pk, (None, ""))
        cases.filter(pk=pk).update(
            assertions=[expectation] if expectation else [], source_turn=turn, recorded_answer=text
        )


def carry_back(apps: Any, _editor: object) -> None:
    """Keep the first assertion, which is all that an expectation can hold."""
    cases = apps.get_model("copilot_admin", "TestCase").objects
    for pk, assertions in cases.order_by("pk").values_list("pk", "assertions"):
        cases.filter(pk=pk).update(expectation=(assertions or [{}])[0])


def foreign_key(to: str, **options: Any) -> "models.ForeignKey[Any, Any]":
    on_delete = models.SET_NULL if options.get("null") else models.CASCADE
    return models.ForeignKey(**{"on_delete": on_delete, "related_name": "+", "to": to, **options})


class Migration(migrations.Migration):
    dependencies = [("copilot_admin", "0012_usage_of_callers_and_tools")]
    operations = [
        migrations.DeleteModel("ReplayAnswer"),
        migrations.DeleteModel("Replay"),
        migrations.DeleteModel("SavedAnswer"),
        migrations.RenameModel("SavedQuestion", "TestCase"),
        migrations.AlterModelOptions(
            "TestCase",
            {
                "ordering": ["copilot", "position", "id"],
                "verbose_name": "test case",
                "verbose_name_plural": "test cases",
            },
        ),
        migrations.AlterField(
            "TestCase",
            "copilot",
            foreign_key("copilot_admin.copilot", related_name="test_cases", db_index=False),
        ),
        migrations.RenameField("TestCase", "body", "test_data"),
        migrations.AddField("TestCase", "assertions", OrderedJsonField(default=list)),
        migrations.AddField("TestCase", "source_turn", models.BigIntegerField(null=True)),
        migrations.AddField(
            "TestCase", "recorded_answer", models.TextField(blank=True, default="")
        ),
        migrations.RunPython(carry_over, carry_back),
        migrations.DeleteModel("RecordedAnswer"),
        migrations.RemoveField("TestCase", "expectation"),
        migrations.AlterField("TestCase", "recorded_answer", models.TextField(blank=True)),
        *(
            migrations.RenameIndex("TestCase", f"test_case_{name}", f"saved_question_{name}")
            for name in ("of_copilot", "same", "of_origin")
        ),
        migrations.AddIndex(
            "TestCase",
            models.Index(
                condition=models.Q(("source_turn__isnull", False)),
                fields=["source_turn"],
                name="test_case_of_turn",
            ),
        ),
        migrations.CreateModel(
            "EvaluationRun",
            [
                ("id", ID),
                (
                    "copilot",
                    foreign_key(
                        "copilot_admin.copilot", related_name="evaluation_runs", db_index=False
                    ),
                ),
                (
                    "target",
                    models.CharField(
                        choices=[
                            ("draft", "Draft"),
                            ("live", "Live version"),
                            ("version", "Version"),
                            ("model", "Draft with another model"),
                        ],
                        max_length=7,
                        verbose_name="target",
                    ),
                ),
                ("version_number", models.PositiveIntegerField(default=0)),
                ("document", OrderedJsonField(default=dict)),
                ("digest", models.CharField(blank=True, max_length=64)),
                ("provider", foreign_key("copilot_admin.provider", null=True)),
                ("provider_name", models.CharField(blank=True, max_length=100)),
                ("model", models.CharField(blank=True, max_length=200)),
                ("judge_provider", foreign_key("copilot_admin.provider", null=True)),
                ("judge_model", models.CharField(blank=True, max_length=200)),
                ("is_partial", models.BooleanField(default=False)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "Waiting"),
                            ("running", "Running"),
                            ("done", "Finished"),
                            ("cancelled", "Cancelled"),
                            ("cost-limit", "Stopped at the cost limit"),
                        ],
                        default="waiting",
                        max_length=10,
                    ),
                ),
                ("cost_limit", models.DecimalField(**COST)),
                ("started_by", foreign_key(settings.AUTH_USER_MODEL, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("heartbeat_at", models.DateTimeField()),
                ("finished_at", models.DateTimeField(null=True)),
            ],
            {
                "verbose_name": "evaluation run",
                "verbose_name_plural": "evaluation runs",
                "ordering": ["-id"],
                "indexes": [
                    models.Index(fields=["copilot", "-id"], name="evaluation_run_of_copilot"),
                    models.Index(
                        condition=models.Q(
                            ("state", "waiting"), ("state", "running"), _connector="OR"
                        ),
                        fields=["heartbeat_at"],
                        name="evaluation_run_active",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            "EvaluationResult",
            [
                ("id", ID),
                (
                    "run",
                    foreign_key(
                        "copilot_admin.evaluationrun", related_name="results", db_index=False
                    ),
                ),
                ("case", foreign_key("copilot_admin.testcase", related_name="results")),
                (
                    "state",
                    models.CharField(
                        choices=[("waiting", "Waiting"), ("running", "Running"), ("done", "Done")],
                        default="waiting",
                        max_length=7,
                    ),
                ),
                ("heartbeat_at", models.DateTimeField(null=True)),
                (
                    "verdict",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("passed", "Passed"),
                            ("failed", "Failed"),
                            ("inconclusive", "Inconclusive"),
                            ("error", "Error"),
                        ],
                        max_length=12,
                    ),
                ),
                ("outcomes", models.JSONField(default=list)),
                ("error", models.TextField(blank=True)),
                ("answer", models.TextField(blank=True)),
                ("is_changed", models.BooleanField(null=True)),
                ("trace_id", models.CharField(blank=True, max_length=128)),
                ("ttft_ms", models.PositiveIntegerField(null=True)),
                ("ms", models.PositiveIntegerField(default=0)),
                ("input_tokens", models.PositiveIntegerField(default=0)),
                ("output_tokens", models.PositiveIntegerField(default=0)),
                ("cost", models.DecimalField(**COST)),
                ("cost_is_estimated", models.BooleanField(default=False)),
                ("finished_at", models.DateTimeField(null=True)),
            ],
            {
                "verbose_name": "evaluation result",
                "verbose_name_plural": "evaluation results",
                "ordering": ["run", "id"],
                "constraints": [
                    models.UniqueConstraint(fields=("run", "case"), name="evaluation_result_once")
                ],
            },
        ),
        migrations.CreateModel(
            "PublishGate",
            [
                (
                    "copilot",
                    models.OneToOneField(
                        on_delete=models.CASCADE,
                        primary_key=True,
                        related_name="publish_gate",
                        serialize=False,
                        to="copilot_admin.copilot",
                    ),
                ),
                (
                    "min_percent",
                    models.PositiveSmallIntegerField(
                        validators=[MinValueValidator(1), MaxValueValidator(100)],
                        verbose_name="required pass rate in percent",
                    ),
                ),
                ("is_blocking", models.BooleanField(default=True, verbose_name="block publishing")),
            ],
            {"verbose_name": "publish gate", "verbose_name_plural": "publish gates"},
        ),
    ]
