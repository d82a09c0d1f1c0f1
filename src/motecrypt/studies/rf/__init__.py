"""Securing RF communication with AES-256 between Raspberry Pis over Slice of Radio."""
