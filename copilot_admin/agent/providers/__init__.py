"""Kinds of model providers, listed in `registry`."""
