"""Stack bounds by static analysis: what a firmware's instructions do to the stack, and who calls whom."""
