/* registers.h: say in which register pair of an AVR a value has to be, at one point of a function.
 *
 * avr-gcc 5.4 has three pointer registers (X, Y, Z) and, left alone, spends them on values that are not
 * used as pointers, then copies addresses back and forth around every load. A macro here costs no
 * instruction: it is an empty assembly statement whose constraint forces the allocator to place the value. On
 * any other machine it is nothing.
 */
#ifndef MOTECRYPT_REGISTERS_H
#define MOTECRYPT_REGISTERS_H

#ifdef __AVR__
#define IN_X(pointer) __asm__("" : "+x"(pointer))
#define IN_Y(pointer) __asm__("" : "+y"(pointer))
#define IN_Z(pointer) __asm__("" : "+z"(pointer))
/* In r16..r23: a byte that must not take up half of a pointer. */
#define NOT_IN_POINTER(byte) __asm__("" : "+a"(byte))
/* Hides the value's origin from the compiler, so that it keeps a counter and does not recompute it. */
#define OPAQUE(value) __asm__("" : "+r"(value))
#else
#define IN_X(pointer) (void)(pointer)
#define IN_Y(pointer) (void)(pointer)
#define IN_Z(pointer) (void)(pointer)
#define NOT_IN_POINTER(byte) (void)(byte)
#define OPAQUE(value) (void)(value)
#endif

#endif
