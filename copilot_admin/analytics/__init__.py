"""Metrics computed from the hourly rollups."""
