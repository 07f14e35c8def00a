"""An answer as the blocks that its reader sees: in conversations, the playground and tool trials."""
