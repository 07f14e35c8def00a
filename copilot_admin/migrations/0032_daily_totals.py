"""Counts of days with all models together, summed up from those by model."""

from typing import Any

from django.db import migrations, models
import django.db.models.deletion


def sum_up(apps: Any, schema_editor: Any) -> None:
    """What is counted by now; what is still to be counted comes into both."""
    daily, total = (apps.get_model("copilot_admin", name) for name in ("DailyUsage", "DailyTotal"))
    keys = ("day", "copilot_id", "version")
    skipped = {"id", "copilot", "model", "day", "version"}
    names = [field.name for field in daily._meta.concrete_fields if field.name not in skipped]
    sums = {f"sum_{name}": models.Sum(name) for name in names}
    rows = daily.objects.order_by().values(*keys).annotate(**sums)
    total.objects.bulk_create(
        (
            total(**{key: row[key] for key in keys}, **{name: row[f"sum_{name}"] for name in names})
            for row in rows
        ),
        batch_size=200,
    )


class Migration(migrations.Migration):

    dependencies = [
        ('copilot_admin', '0031_rollups'),
    ]

    operations = [
        migrations.CreateModel(
            name='DailyTotal',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('version', models.PositiveIntegerField(default=0)),
                ('model', models.CharField(blank=True, max_length=200)),
                ('runs', models.PositiveBigIntegerField(default=0)),
                ('questions', models.PositiveBigIntegerField(default=0)),
                ('conversations', models.PositiveBigIntegerField(default=0)),
                ('errors', models.PositiveBigIntegerField(default=0)),
                ('completed', models.PositiveBigIntegerField(default=0)),
                ('truncated', models.PositiveBigIntegerField(default=0)),
                ('failed', models.PositiveBigIntegerField(default=0)),
                ('crashed', models.PositiveBigIntegerField(default=0)),
                ('cancelled', models.PositiveBigIntegerField(default=0)),
                ('interrupted', models.PositiveBigIntegerField(default=0)),
                ('refused', models.PositiveBigIntegerField(default=0)),
                ('tokens', models.PositiveBigIntegerField(default=0)),
                ('cost', models.DecimalField(decimal_places=12, default=0, max_digits=24)),
                ('unpriced', models.PositiveBigIntegerField(default=0)),
                ('up', models.PositiveBigIntegerField(default=0)),
                ('down', models.PositiveBigIntegerField(default=0)),
                ('good', models.PositiveBigIntegerField(default=0)),
                ('mixed', models.PositiveBigIntegerField(default=0)),
                ('bad', models.PositiveBigIntegerField(default=0)),
                ('ttft_00', models.PositiveBigIntegerField(default=0)),
                ('ttft_01', models.PositiveBigIntegerField(default=0)),
                ('ttft_02', models.PositiveBigIntegerField(default=0)),
                ('ttft_03', models.PositiveBigIntegerField(default=0)),
                ('ttft_04', models.PositiveBigIntegerField(default=0)),
                ('ttft_05', models.PositiveBigIntegerField(default=0)),
                ('ttft_06', models.PositiveBigIntegerField(default=0)),
                ('ttft_07', models.PositiveBigIntegerField(default=0)),
                ('ttft_08', models.PositiveBigIntegerField(default=0)),
                ('ttft_09', models.PositiveBigIntegerField(default=0)),
                ('ttft_10', models.PositiveBigIntegerField(default=0)),
                ('ttft_11', models.PositiveBigIntegerField(default=0)),
                ('ttft_12', models.PositiveBigIntegerField(default=0)),
                ('ttft_13', models.PositiveBigIntegerField(default=0)),
                ('ttft_14', models.PositiveBigIntegerField(default=0)),
                ('ttft_15', models.PositiveBigIntegerField(default=0)),
                ('ttft_16', models.PositiveBigIntegerField(default=0)),
                ('ttft_17', models.PositiveBigIntegerField(default=0)),
                ('ttft_18', models.PositiveBigIntegerField(default=0)),
                ('ttft_19', models.PositiveBigIntegerField(default=0)),
                ('ttft_20', models.PositiveBigIntegerField(default=0)),
                ('ttft_21', models.PositiveBigIntegerField(default=0)),
                ('ttft_22', models.PositiveBigIntegerField(default=0)),
                ('ttft_23', models.PositiveBigIntegerField(default=0)),
                ('ttft_24', models.PositiveBigIntegerField(default=0)),
                ('ttft_25', models.PositiveBigIntegerField(default=0)),
                ('ttft_26', models.PositiveBigIntegerField(default=0)),
                ('ttft_27', models.PositiveBigIntegerField(default=0)),
                ('ttft_28', models.PositiveBigIntegerField(default=0)),
                ('ttft_29', models.PositiveBigIntegerField(default=0)),
                ('ttft_30', models.PositiveBigIntegerField(default=0)),
                ('ttft_31', models.PositiveBigIntegerField(default=0)),
                ('day', models.DateField()),
                ('copilot', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='copilot_admin.copilot')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('day', 'copilot', 'version'), name='daily_total_row')],
            },
        ),
        migrations.RunPython(sum_up, migrations.RunPython.noop),
    ]
