"""Calculations and texts that components and tools share."""
