"""Replays of saved questions, what an answer to one cost, and a permission to watch the background."""

import copilot_admin.models.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('copilot_admin', '0033_learning'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AlterModelOptions(
            name='filling',
            options={'permissions': [('watch_background', 'Can see and stop what runs in the background')]},
        ),
        migrations.AddField(
            model_name='savedanswer',
            name='cost',
            field=models.DecimalField(decimal_places=12, max_digits=24, null=True),
        ),
        migrations.CreateModel(
            name='Replay',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('target', models.CharField(choices=[('draft', 'Draft'), ('version', 'Version'), ('model', 'Draft with another model')], max_length=7, verbose_name='target')),
                ('version_number', models.PositiveIntegerField(default=0)),
                ('document', copilot_admin.models.fields.OrderedJsonField(default=dict)),
                ('provider_name', models.CharField(blank=True, max_length=100)),
                ('model', models.CharField(blank=True, max_length=200)),
                ('label', models.CharField(blank=True, max_length=60)),
                ('state', models.CharField(choices=[('waiting', 'Waiting'), ('running', 'Running'), ('paused', 'Paused'), ('done', 'Done'), ('stopped', 'Stopped'), ('cost-bound', 'Stopped by its bound on cost')], default='waiting', max_length=10)),
                ('most_cost', models.DecimalField(decimal_places=12, max_digits=24, null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('moved_at', models.DateTimeField()),
                ('finished_at', models.DateTimeField(null=True)),
                ('asked_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('copilot', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='replays', to='copilot_admin.copilot')),
                ('provider', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='copilot_admin.provider')),
            ],
            options={
                'verbose_name': 'replay',
                'verbose_name_plural': 'replays',
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='ReplayAnswer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveIntegerField()),
                ('head', models.CharField(max_length=300)),
                ('state', models.CharField(choices=[('waiting', 'Waiting'), ('asking', 'Being asked'), ('done', 'Done')], default='waiting', max_length=7)),
                ('claimed_at', models.DateTimeField(null=True)),
                ('judgement', models.CharField(blank=True, choices=[('as-expected', 'As expected'), ('not-as-expected', 'Not as expected'), ('answered', 'Answered, nothing was expected'), ('undecided', 'Could not be found out')], max_length=15)),
                ('reason', models.TextField(blank=True)),
                ('failure', models.TextField(blank=True)),
                ('text', models.TextField(blank=True)),
                ('trace_id', models.CharField(blank=True, max_length=128)),
                ('ttft_ms', models.PositiveIntegerField(null=True)),
                ('ms', models.PositiveIntegerField(default=0)),
                ('input_tokens', models.PositiveIntegerField(default=0)),
                ('output_tokens', models.PositiveIntegerField(default=0)),
                ('cost', models.DecimalField(decimal_places=12, max_digits=24, null=True)),
                ('cost_is_estimated', models.BooleanField(default=False)),
                ('answered_at', models.DateTimeField(null=True)),
                ('baseline', models.CharField(choices=[('none', 'Nothing'), ('recorded', 'The recorded answer'), ('live', 'The last answer of what was live')], default='none', max_length=8)),
                ('before_text', models.TextField(blank=True)),
                ('before_ms', models.PositiveIntegerField(default=0)),
                ('before_tokens', models.PositiveBigIntegerField(default=0)),
                ('before_cost', models.DecimalField(decimal_places=12, max_digits=24, null=True)),
                ('is_changed', models.BooleanField(null=True)),
                ('is_slower', models.BooleanField(null=True)),
                ('question', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='copilot_admin.savedquestion')),
                ('replay', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='answers', to='copilot_admin.replay')),
            ],
            options={
                'verbose_name': 'answer of a replay',
                'verbose_name_plural': 'answers of a replay',
                'ordering': ['replay', 'position'],
            },
        ),
        migrations.AddIndex(
            model_name='replay',
            index=models.Index(fields=['copilot', '-id'], name='replay_of_copilot'),
        ),
        migrations.AddIndex(
            model_name='replay',
            index=models.Index(condition=models.Q(('state', 'waiting'), ('state', 'running'), _connector='OR'), fields=['moved_at'], name='replay_unfinished'),
        ),
        migrations.AddConstraint(
            model_name='replayanswer',
            constraint=models.UniqueConstraint(fields=('replay', 'position'), name='replay_answer_once'),
        ),
    ]
