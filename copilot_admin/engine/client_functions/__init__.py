"""What Workspace can do for a copilot, one file each; `registry` finds them."""
