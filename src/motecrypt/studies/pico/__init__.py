"""Dharmani, "String and File Encryption with AES" on a Raspberry Pi Pico."""
