"""What is kept as text in tests/golden, and how it comes to be."""
