/* XOR with the key, and one fault. */
#include "cipher.h"
#include "faulty.h"

#include <string.h>

uint8_t cipher_setup(struct cipher_context *context, const uint8_t *key, uint8_t key_bytes) {
    if (key_bytes != sizeof context->key) {
        return CIPHER_BAD_KEY;
    }
    memcpy(context->key, key, sizeof context->key);
    return CIPHER_OK;
}

#if defined(FAULT_STACK) || defined(FAULT_FRAME)
static uint8_t dig(volatile uint8_t depth) {
    volatile uint8_t room[32];
    room[depth & 31] = depth;
    return depth == 0 ? room[0] : (uint8_t)(dig((uint8_t)(depth - 1)) + room[depth & 31]);
}
#endif

uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
#ifdef FAULT_LOOPS
    for (volatile uint8_t forever = 1; forever;) {
    }
#endif
#ifdef FAULT_CRASHES
#if defined(__AVR__)
    __asm__ volatile("ldi r30, 0xfe\n\tldi r31, 0x7f\n\tijmp"); /* past the end of the flash */
#else
    __builtin_trap();
#endif
#endif
#ifdef FAULT_FLOODS
    for (;;) { /* straight into the UART's data register */
#if defined(__AVR__)
        while (!(*(volatile uint8_t *)0xc0 & 0x20)) {
        }
        *(volatile uint8_t *)0xc6 = 'x';
#elif defined(__ARM_ARCH_7EM__)
        *(volatile uint32_t *)0x40004404 = 'x';
#elif defined(__arm__)
        *(volatile uint32_t *)0x40034000 = 'x';
#elif defined(__riscv) && !defined(__riscv_32e)
        *(volatile uint32_t *)0x10013000 = 'x';
#endif
    }
#endif
#ifdef FAULT_FRAME /* none: but a small frame takes the stack pointer past 0x0800 on the UNO */
    if (dig(9) == 77) {
        return CIPHER_BAD_LENGTH;
    }
#endif
#ifdef FAULT_STACK
    if (dig(255) == 77) {
        return CIPHER_BAD_LENGTH;
    }
#endif
#ifdef FAULT_SOURCE
    this is no C at all;
#endif
    for (size_t i = 0; i < io->bytes; i++) {
        uint8_t byte = (uint8_t)(io->input[i] ^ context->key[i & 15]);
#ifdef FAULT_FLIPS
        byte = (uint8_t)(byte ^ (i == 3 ? 1u : 0u));
#endif
#ifdef FAULT_BRANCHES
        if (context->key[i & 15] & 1) {
            __asm__ volatile("nop\n\tnop");
        }
#endif
        io->output[i] = byte;
    }
    return CIPHER_OK;
}

uint8_t cipher_decrypt(struct cipher_context *context, const struct cipher_io *io) {
    return cipher_encrypt(context, io);
}
