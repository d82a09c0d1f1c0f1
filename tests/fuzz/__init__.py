"""Hostile firmware for the simulators' drivers: `./test fuzz` (README.md shows how to use it)."""
