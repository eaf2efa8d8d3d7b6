"""What of this package needs no agent; tests/integration/pytorch has the rest."""
