"""Any firmware in the simulators: read its image and symbols, run it freely, profile it."""
