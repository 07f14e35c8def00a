"""Prices of models, their import, and models without a price."""
