"""Prefixes: what of a C file gets one, what keeps its name, and that nothing else changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from motecrypt.base.errors import InputError
from motecrypt.catalog import FIRMWARE
from motecrypt.exports.names import names_of, prefixed, tokens

SOURCES = sorted(
    [*FIRMWARE.glob("ciphers/*/*.[ch]"), *FIRMWARE.glob("modes/*.[ch]"), *FIRMWARE.glob("include/*.h")]
)


def _names(text: str) -> set[str]:
    return set(names_of([("x.c", text)]).words)


def _prefixed(text: str, prefix: str = "p_") -> str:
    return prefixed(text, names_of([("x.c", text)]), prefix)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("int f(int a, char *b) { int c = a; return g(c); }", {"f"}),
        ("uint8_t cipher_setup(struct io *io, const uint8_t *key);", {"cipher_setup"}),
        ("static inline void f(void) {}\nstatic int h(void);", {"f", "h"}),
        ("__attribute__((always_inline)) static int f(void) { return 0; }", {"f"}),
        ("static const uint8_t box[256] ALIGNED = {FIRST(1), 2};", {"box"}),
        ("static const PROGMEM uint8_t box[] = {1};", {"box"}),
        ("static uint8_t EEMEM kept[2][256];", {"kept"}),
        ("int a = UINT32_C(3) + b, d;", {"a", "d"}),
        ("extern int a;", {"a"}),
        ("struct tag { int field; uint8_t more[3]; };", {"tag"}),
        ("struct tag;\nunion u { int i; };\nstruct other *p;", {"tag", "u", "p"}),
        ("enum colour { RED, GREEN = 3, BLUE };", {"colour", "RED", "GREEN", "BLUE"}),
        ("enum { A = B, C };", {"A", "C"}),
        ("enum { A = sizeof(struct { int B, C; }), D };", {"A", "D"}),
        ("int x;\nenum e { A };\nenum e f(void) { int b, c; }", {"x", "e", "A", "f"}),
        ("}\n)\n]\nint f(void) { int a; }\nint g[2];", {"f", "g"}),
        ("int a[2] = {1, b}, c; int d = (e, f), g;", {"a", "c", "d", "g"}),
        ("int (*call)(int), *pointer; int f((*a)(int));", {"call", "pointer", "f"}),
        ("typedef uint32_t word;\ntypedef void (*call)(int);", {"word", "call"}),
        ("#define LIMIT 3\n#  define TWICE(x) ((x) + (x))\n", {"LIMIT", "TWICE"}),
        ("#ifdef A\nint f(int a) {\n#else\nint f(void) {\n#endif\nreturn 0; }\nint g(void);", {"f", "g"}),
        ("#if A\nint f(void) {\n#elif B\nint h(void) {\n#else\nint i(void) {\n#endif\n}\nint j;", {*"fhij"}),
        ("#define LONG(x) \\\n  other(x)\nint f(void);", {"LONG", "f"}),
        ("#define\n#define A\n", {"A"}),
        ("/* int f(void); */ // int g(void);\n", set()),
        ('const char *t = "int f(void);";', {"t"}),
        ("void f(void) { int b = ~1; int c = 2; }", {"f"}),
        ("int main(void) { return 0; }\n#define _GNU_SOURCE 1\n#define __BYTE 1\n", set()),
        ("int _; int _a; int _Ab; int __c; int A_; int aB;", {"_", "_a", "A_", "aB"}),
        ("#if A\nint f(void) {\n#if B\n{\n#else\nint d;\n#endif\n}\n#endif\nint g;", {"f", "g"}),
        ("#if A\nint f(int a,\n#if B\n[[\n#else\n[\n#endif\n] int b);\n#endif\nint g;", {"f", "g"}),
        ("#if A\nint a = b,\n#else\nint c = d;\n#endif\ne;\n#endif\n#else\nint g;", {"a", "c", "e", "g"}),
        ("int a\n# define B\n;\n#undef C\n", {"a", "B"}),
        ("void f(void) { for (int i = 0; i < 3; i++) { g(); } }\nint after[3];", {"f", "after"}),
    ],
)
def test_names_at_file_scope(text: str, names: set[str]) -> None:
    assert _names(text) == names


def test_words_that_callers_name_keep_their_names() -> None:
    names = names_of([("x.c", "static void input(void);\nvoid f(void);")], keep=["input"])
    assert names.words == {"f"}
    assert names_of([("x.c", "void f(void);")], keep=["absent"]).words == {"f"}


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("int f(void);\nint g(void) { return f(); }", "int p_f(void);\nint p_g(void) { return p_f(); }"),
        ("int f(void); /* f */ // f\n", "int p_f(void); /* f */ // f\n"),
        ('int f(void);\nchar t[] = "f";', 'int p_f(void);\nchar p_t[] = "f";'),
        ("#include <f/f.h>\nint f(void);", "#include <f/f.h>\nint p_f(void);"),
        ('#define F "f.h"\n#include F\n', '#define p_F "f.h"\n#include p_F\n'),
        ("#define F 1\n#if defined(F) && F > 0\n#error F is f\n#endif\n",
         "#define p_F 1\n#if defined(p_F) && p_F > 0\n#error F is f\n#endif\n"),
        (
            "#define LIMIT 1\n#define LESS(a) ((a) < LIMIT)\n#if 0 < LIMIT\n#endif\n",
            "#define p_LIMIT 1\n#define p_LESS(a) ((a) < p_LIMIT)\n#if 0 < p_LIMIT\n#endif\n",
        ),
        (
            "#define LIMIT 1\n#define S(error) #error LIMIT\n#define T(pragma) a #pragma LIMIT\n",
            "#define p_LIMIT 1\n#define p_S(error) #error p_LIMIT\n#define p_T(pragma) a #pragma p_LIMIT\n",
        ),
        ("int f(int error) {\nerror = f(0);\n}", "int p_f(int error) {\nerror = p_f(0);\n}"),
        ("int f(void);\n#import <f.h>\n", "int p_f(void);\n#import <f.h>\n"),
        ("int f(void);\n#pragma weak f\n", "int p_f(void);\n#pragma weak f\n"),
        ('int f(void);\nint g(void) __attribute__((alias("f")));',
         'int p_f(void);\nint p_g(void) __attribute__((alias("p_f")));'),
        ("int error, b;\nint a =\n! error + b;", "int p_error, p_b;\nint p_a =\n! p_error + p_b;"),
        ('int f(void);\nint g(void) __attribute__((__alias__("f")));\nchar *h[] = {F("f")};',
         'int p_f(void);\nint p_g(void) __attribute__((__alias__("p_f")));\nchar *p_h[] = {F("f")};'),
        ("#define D(n) void d_##n(void)\nD(1);\nvoid f(void) { d_1(); }",
         "#define p_D(n) void p_d_##n(void)\np_D(1);\nvoid p_f(void) { p_d_1(); }"),
        ("#define S(n) uint##n##_t\nint f(S(8) a, uint8_t b);",
         "#define p_S(n) uint##n##_t\nint p_f(p_S(8) a, uint8_t b);"),
        ("int f; int a = 0x1f, b = 'f', c = 1.f;", "int p_f; int p_a = 0x1f, p_b = 'f', p_c = 1.f;"),
    ],
)  # fmt: skip
def test_what_gets_the_prefix_and_what_does_not(text: str, made: str) -> None:
    assert _prefixed(text) == made


def test_names_that_begin_with_an_argument_are_refused() -> None:
    with pytest.raises(
        InputError, match=r"x\.c: the macro M joins names with ## that begin with its argument"
    ):
        _names("#define M(name) int name##_setup(void)\n")


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_without_its_prefixes_every_file_is_as_it_was(path: Path) -> None:
    text = path.read_text()
    assert "".join(token.text for token in tokens(text)) == text
    made = _prefixed(text, "zqz_")
    assert made.replace("zqz_", "") == text
    assert (made != text) == bool(_names(text))
