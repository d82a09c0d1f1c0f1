"""Published figures of real chips next to ours: how far the simulators can be trusted."""
