"""What Workspace can do for a copilot, one file each. Door: `registry`, which finds them."""
