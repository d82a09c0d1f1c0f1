"""What running a firmware showed, as text: profile, stacks and leakage. It runs nothing."""
