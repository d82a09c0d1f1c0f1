"""Hostile firmware for the simulators' drivers: `./test fuzz` (README.md tells how to use it)."""
