"""Limits of the server, keys, users and addresses; refusals that stand for others."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('copilot_admin', '0036_users'),
    ]

    operations = [
        migrations.CreateModel(
            name='SubjectLimits',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('scope', models.CharField(choices=[('server', 'Server'), ('copilot', 'Copilot'), ('key', 'Endpoint key'), ('user', 'User'), ('address', 'Address')], max_length=10, verbose_name='kind')),
                ('subject', models.CharField(blank=True, max_length=255, verbose_name='subject')),
                ('limits', models.JSONField(blank=True, default=dict, verbose_name='limits')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='changed')),
            ],
            options={
                'verbose_name': 'limit',
                'verbose_name_plural': 'limits',
                'ordering': ['scope', 'subject'],
            },
        ),
        migrations.AddField(
            model_name='run',
            name='times',
            field=models.PositiveIntegerField(db_default=1, default=1),
        ),
        # Made in 0047, without holding up the runs of a big table.
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AddIndex(
                    model_name='run',
                    index=models.Index(condition=models.Q(('principal', 'anonymous'), _negated=True), fields=['principal', 'started_at'], name='run_of_caller'),
                ),
            ],
        ),
        migrations.AddConstraint(
            model_name='subjectlimits',
            constraint=models.UniqueConstraint(fields=('scope', 'subject'), name='limits_of_subject'),
        ),
    ]
