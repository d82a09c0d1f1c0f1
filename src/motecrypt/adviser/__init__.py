"""Which cipher for a device, radio, battery and budget: `api` has all that others use."""
