"""Reviewers find, judge, learn from and export what happened."""
