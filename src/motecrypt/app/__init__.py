"""What a person does, as functions: a request in, a result out, progress by a callback.

Nothing here prints, reads a command line or ends the program. `motecrypt.measure` and the others are these.
"""
