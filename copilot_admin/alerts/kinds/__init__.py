"""What a rule can watch, one file each; `alerts.kind` finds them."""
