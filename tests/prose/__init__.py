"""The prose check of `./test lint`: proselint with rules of our own over all text that people read."""
