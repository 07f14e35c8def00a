"""Django's commands for accounts, told in the audit trail.

A Django app of its own: it stands before `django.contrib.auth`, whose commands it replaces.
"""
