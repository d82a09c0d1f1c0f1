"""Self-contained libraries of what was measured: for Arduino, PlatformIO, Pico SDK, Zephyr, ESP-IDF, plain C.

`targets`, `library.choose` and `library.plan` say what an export is; `library.Export.write` makes its folder,
whole or not at all. Each name is imported from its own module, since most commands need only a few.
"""
