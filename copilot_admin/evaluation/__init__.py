"""Evaluations: test cases run against drafts, versions and models, with a verdict for each answer."""
