"""What platforms print: kubectl's descriptions, failed activations of an environment."""
