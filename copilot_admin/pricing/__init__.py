"""Prices of models, and what runs cost."""
