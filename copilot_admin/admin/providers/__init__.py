"""Providers: their list and form, the page that connects one, and its test."""
