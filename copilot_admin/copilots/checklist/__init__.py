"""Checks of a draft before it is published: errors stop publishing, warnings inform."""
