"""Running a component, bounded and alone, and saying what it gave.

In come a component and arguments; out come outputs, or a failure that is ours. Doors: `run`,
`events`, `inputs`, `samples`.
"""
