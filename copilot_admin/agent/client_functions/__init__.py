"""What Workspace can do for a copilot, one file each.

Doors: `registry`, which finds them, and `assign_tasks_to_agents` for what ends a turn.
"""
