"""Saved questions know the turn they come from, have a label, and are recognised by a digest."""

import hashlib
import json
from typing import Any

import django.db.models.deletion
from django.db import migrations, models


READ_AT_ONCE = 8  # questions of 4 MB each


def give_digests(apps: Any, schema_editor: Any) -> None:
    """As `copilots/questions/digest.py` makes them."""
    rows = apps.get_model("copilot_admin", "SavedQuestion").objects.all()
    for saved in rows.iterator(chunk_size=READ_AT_ONCE):
        whole = json.dumps([saved.question, saved.body], sort_keys=True, ensure_ascii=False)
        digest = hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()
        rows.filter(pk=saved.pk).update(digest=digest)


class Migration(migrations.Migration):

    dependencies = [
        ('copilot_admin', '0032_daily_totals'),
    ]

    operations = [
        migrations.CreateModel(
            name='RecordedAnswer',
            fields=[
                ('question', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='recorded', serialize=False, to='copilot_admin.savedquestion')),
                ('conversation', models.BigIntegerField()),
                ('turn', models.BigIntegerField(db_index=True)),
                ('text', models.TextField(blank=True)),
                ('failure', models.TextField(blank=True)),
                ('provider', models.CharField(blank=True, max_length=100)),
                ('model', models.CharField(blank=True, max_length=200)),
                ('version_number', models.PositiveIntegerField(null=True)),
                ('ttft_ms', models.PositiveIntegerField(null=True)),
                ('ms', models.PositiveIntegerField(default=0)),
                ('input_tokens', models.PositiveIntegerField(default=0)),
                ('output_tokens', models.PositiveIntegerField(default=0)),
                ('cost', models.DecimalField(decimal_places=12, max_digits=24, null=True)),
                ('cost_is_estimated', models.BooleanField(default=False)),
                ('answered_at', models.DateTimeField()),
            ],
            options={
                'verbose_name': 'recorded answer',
                'verbose_name_plural': 'recorded answers',
            },
        ),
        migrations.AddField(
            model_name='savedquestion',
            name='digest',
            field=models.CharField(blank=True, max_length=64),
        ),
        migrations.AddField(
            model_name='savedquestion',
            name='label',
            field=models.CharField(blank=True, max_length=60, verbose_name='label'),
        ),
        migrations.AddIndex(
            model_name='savedquestion',
            index=models.Index(fields=['copilot', 'digest'], name='saved_question_same'),
        ),
        migrations.RunPython(give_digests, migrations.RunPython.noop),
    ]
