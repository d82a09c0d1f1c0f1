"""The two ways a command ends badly. Knows nothing else of the project."""

from __future__ import annotations


class MotecryptError(Exception):
    """Something measured or checked failed: one line for the user, exit code 1."""

    exit_code = 1


class InputError(MotecryptError):
    """Bad arguments or input: one line that says what, where and how to mend it; exit code 2."""

    exit_code = 2
