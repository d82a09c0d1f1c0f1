"""Compilers, libraries and tools: fetched by pin and hash, and run to make firmware."""
