"""What this program wrote when it captured a death: how the command ended, and the account of its processes."""
