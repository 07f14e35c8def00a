"""Questions that are kept with a copilot: what each brings along, and what its answer shall be."""
