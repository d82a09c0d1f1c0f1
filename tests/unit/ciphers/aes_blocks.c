/* aes_blocks.c: blocks and keys of AES in a chain on an ARM or a RISC-V, with what some of them take
 * (test_aes_on_pico.py, test_aes_on_stm32f4.py, test_aes_on_riscv.py).
 *
 * KEY_BYTES, BLOCKS: of the chain. Addresses of keys and blocks change from one to the next. With
 * BLOCK_ENCRYPTS_ALONE nothing is decrypted. One line: the last block, how many faults were found, the status
 * of keys of several lengths, and the stack of a block in bytes. Then the fewest and the most cycles of a
 * block, first encrypted and then decrypted, at a multiple of four and elsewhere.
 */
#include "block.h"
#include "hal.h"

#include <string.h>

enum { AROUND = 8, TIMED = 40 };

static const uint8_t lengths[] = {0, 15, 17, 23, 24, 25, 31, 32, 33, 255};

static struct {
    struct block_key key;
    uint32_t behind;
} kept = {.behind = 0x5a5a5a5au};
static uint32_t key_words[65], block_words[(BLOCK_BYTES + 2 * AROUND) / 4];
static uint8_t *const keys = (uint8_t *)key_words, *const space = (uint8_t *)block_words;
static uint32_t drawn = 1;

static void draw(uint8_t *bytes, size_t count) {
    while (count-- > 0) {
        drawn = drawn * 1664525u + 1013904223u;
        *bytes++ = (uint8_t)(drawn >> 24);
    }
}

static void write_hex(uint32_t number, uint8_t digits) {
    while (digits-- > 0)
        hal_write((uint8_t)("0123456789abcdef"[number >> 4 * digits & 15]));
}

static uint8_t untouched(const uint8_t *block) {
    for (uint8_t i = 0; i < BLOCK_BYTES + 2 * AROUND; i++)
        if ((space + i < block || space + i >= block + BLOCK_BYTES) && space[i] != 0x5a)
            return 0;
    return 1;
}

static uint32_t chain(uint8_t *bytes, uint8_t *result) {
    uint32_t faults = 0;

    for (uint32_t number = 0; number < BLOCKS; number++) {
        uint8_t *at = keys + number / 4 % 4, *block = space + AROUND + number % 4;

        memcpy(at, bytes, KEY_BYTES);
        faults += block_setup(&kept.key, at, KEY_BYTES) != CIPHER_OK;
        faults += memcmp(at, bytes, KEY_BYTES) != 0 || kept.behind != 0x5a5a5a5au;
        memset(space, 0x5a, BLOCK_BYTES + 2 * AROUND);
        memcpy(block, result, BLOCK_BYTES);
        block_encrypt(&kept.key, block);
        faults += !untouched(block);
#ifndef BLOCK_ENCRYPTS_ALONE
        uint8_t before[BLOCK_BYTES];
        memcpy(before, result, BLOCK_BYTES);
        memcpy(result, block, BLOCK_BYTES);
        block_decrypt(&kept.key, block);
        faults += memcmp(block, before, BLOCK_BYTES) != 0 || !untouched(block);
#else
        memcpy(result, block, BLOCK_BYTES);
#endif
        bytes[number % KEY_BYTES] ^= result[0];
    }
    return faults;
}

#ifdef BLOCK_STREAMS
enum { MOST_BLOCKS = 4 };

/* Counters in front of each carry, for messages of up to MOST_BLOCKS at each address, in place and not. */
static uint32_t stream_blocks(void) {
    static uint32_t from[(MOST_BLOCKS + 1) * 4], to[(MOST_BLOCKS + 1) * 4];
    struct block_stream stream;
    uint32_t faults = 0;

    for (uint32_t number = 0; number < 17 * 16; number++) {
        uint8_t counter[BLOCK_BYTES], plain[MOST_BLOCKS * BLOCK_BYTES];
        uint8_t *input = (uint8_t *)from + number % 4,
                *output = number % 3 ? (uint8_t *)to + number / 4 % 4 : input;
        uint32_t blocks = number % (MOST_BLOCKS + 1), ones = number % 17;

        draw(counter, BLOCK_BYTES);
        memset(counter + BLOCK_BYTES - ones, 0xff, ones);
        draw(plain, sizeof plain);
        memset(to, 0x5a, sizeof to);
        memset(from, 0x5a, sizeof from);
        memcpy(input, plain, sizeof plain);
        memcpy(stream.counter, counter, BLOCK_BYTES);
        stream.input = input;
        stream.output = output;
        block_stream(&kept.key, &stream, blocks, STREAM_ALONE);
        faults +=
            stream.input != input + BLOCK_BYTES * blocks || stream.output != output + BLOCK_BYTES * blocks;
        for (uint32_t i = 0; i < BLOCK_BYTES * blocks; i += BLOCK_BYTES) {
            uint8_t block[BLOCK_BYTES];

            memcpy(block, counter, BLOCK_BYTES);
            block_encrypt(&kept.key, block);
            for (uint8_t j = 0; j < BLOCK_BYTES; j++)
                faults += output[i + j] != (plain[i + j] ^ block[j]);
            for (uint8_t j = BLOCK_BYTES; j-- > 0;)
                if (++counter[j] != 0)
                    break;
        }
        faults += memcmp(stream.counter, counter, BLOCK_BYTES) != 0;
        faults += output[BLOCK_BYTES * blocks] !=
                  (output == input && blocks < MOST_BLOCKS ? plain[BLOCK_BYTES * blocks] : 0x5a);
    }
    return faults;
}

#ifndef BLOCK_PAIRS
/* Chains of up to MOST_BLOCKS at each address, in place and not, and back in place. */
static uint32_t chain_blocks(void) {
    static uint32_t from[(MOST_BLOCKS + 1) * 4], to[(MOST_BLOCKS + 1) * 4];
    struct block_stream stream;
    uint32_t faults = 0;

    for (uint32_t number = 0; number < 240; number++) {
        uint8_t before[BLOCK_BYTES], iv[BLOCK_BYTES], plain[MOST_BLOCKS * BLOCK_BYTES];
        uint8_t *input = (uint8_t *)from + number % 4,
                *output = number % 3 ? (uint8_t *)to + number / 4 % 4 : input;
        uint32_t blocks = number % (MOST_BLOCKS + 1);

        draw(iv, BLOCK_BYTES);
        draw(plain, sizeof plain);
        memset(to, 0x5a, sizeof to);
        memcpy(input, plain, sizeof plain);
        memcpy(output + BLOCK_BYTES * blocks, iv, 4);
        memcpy(stream.mac, iv, BLOCK_BYTES);
        stream.input = input;
        stream.output = output;
        block_chain_encrypt(&kept.key, &stream, blocks);
        memcpy(before, iv, BLOCK_BYTES);
        for (uint32_t i = 0; i < BLOCK_BYTES * blocks; i += BLOCK_BYTES) {
            for (uint8_t j = 0; j < BLOCK_BYTES; j++)
                before[j] ^= plain[i + j];
            block_encrypt(&kept.key, before);
            faults += memcmp(before, output + i, BLOCK_BYTES) != 0;
        }
        faults += memcmp(before, stream.mac, BLOCK_BYTES) != 0;
        faults += memcmp(output + BLOCK_BYTES * blocks, iv, 4) != 0;
#ifndef BLOCK_ENCRYPTS_ALONE
        uint8_t *back = number % 2 ? output : input;

        memcpy(stream.mac, iv, BLOCK_BYTES);
        stream.input = output;
        stream.output = back;
        block_chain_decrypt(&kept.key, &stream, blocks);
        faults += memcmp(back, plain, BLOCK_BYTES * blocks) != 0;
        faults += memcmp(before, stream.mac, BLOCK_BYTES) != 0;
        faults += memcmp(output + BLOCK_BYTES * blocks, iv, 4) != 0;
#endif
    }
    return faults;
}
#endif
#endif

#ifdef BLOCK_PAIRS
/* Pairs of blocks at each address are two blocks. */
static uint32_t pair_blocks(void) {
    uint32_t faults = 0;

    for (uint32_t number = 0; number < 40; number++) {
        uint8_t pair[2 * BLOCK_BYTES + 4], one[2 * BLOCK_BYTES], *at = pair + number % 4;

        draw(at, 2 * BLOCK_BYTES);
        memcpy(one, at, sizeof one);
        block_encrypt(&kept.key, one);
        block_encrypt(&kept.key, one + BLOCK_BYTES);
        block_encrypt_pair(&kept.key, at);
        faults += memcmp(one, at, sizeof one) != 0;
#ifndef BLOCK_ENCRYPTS_ALONE
        draw(at, 2 * BLOCK_BYTES);
        memcpy(one, at, sizeof one);
        block_decrypt(&kept.key, one);
        block_decrypt(&kept.key, one + BLOCK_BYTES);
        block_decrypt_pair(&kept.key, at);
        faults += memcmp(one, at, sizeof one) != 0;
#endif
    }
    return faults;
}
#endif

static __attribute__((noinline)) void nothing(const struct block_key *with, uint8_t *block) {
    __asm__ volatile("" ::"r"(with), "r"(block));
}

/* The call itself is fixed, and never inlined: what it takes is then the same with each compiler. */
static __attribute__((noinline, noclone)) uint32_t time_of(void (*crypt)(const struct block_key *, uint8_t *),
                                                           uint8_t *block) {
    hal_timer_start();
    {
#ifdef __riscv
        register void (*called)(const struct block_key *, uint8_t *) __asm__("t0") = crypt;
        register const struct block_key *with __asm__("a0") = &kept.key;
        register uint8_t *at __asm__("a1") = block;

        __asm__ volatile("jalr %2"
                         : "+r"(with), "+r"(at), "+r"(called)
                         :
                         : "ra", "t1", "t2", "t3", "t4", "t5", "t6", "a2", "a3", "a4", "a5", "a6", "a7",
                           "memory");
#else
        register void (*called)(const struct block_key *, uint8_t *) __asm__("r4") = crypt;
        register const struct block_key *with __asm__("r0") = &kept.key;
        register uint8_t *at __asm__("r1") = block;

        __asm__ volatile("nop\n\tblx %2\n\tnop"
                         : "+r"(with), "+r"(at)
                         : "r"(called)
                         : "r2", "r3", "r12", "lr", "cc", "memory");
#endif
    }
    return hal_timer_cycles();
}

static void time_blocks(void (*crypt)(const struct block_key *, uint8_t *), uint8_t aligned) {
    uint32_t least = UINT32_MAX, most = 0;

    for (uint8_t i = 0; i < TIMED; i++) {
        uint8_t *block = space + AROUND + (aligned ? 0 : 1 + i % 3);

        draw(keys, KEY_BYTES);
        draw(block, BLOCK_BYTES);
        block_setup(&kept.key, keys, KEY_BYTES);
        uint32_t cycles = time_of(crypt, block) - time_of(nothing, block);
        if (cycles < least)
            least = cycles;
        if (cycles > most)
            most = cycles;
    }
    hal_write(' ');
    write_hex(least, 8);
    hal_write(' ');
    write_hex(most, 8);
}

int main(void) {
    uint8_t bytes[32], result[BLOCK_BYTES] = {0};
    uint32_t faults, stack;

    hal_init();
    for (uint8_t i = 0; i < sizeof bytes; i++)
        bytes[i] = i;
    faults = chain(bytes, result);
#ifdef BLOCK_STREAMS
    faults += stream_blocks();
#ifndef BLOCK_PAIRS
    faults += chain_blocks();
#endif
#endif
#ifdef BLOCK_PAIRS
    faults += pair_blocks();
#endif
    for (uint8_t i = 0; i < sizeof result; i++)
        write_hex(result[i], 2);
    hal_write(' ');
    write_hex(faults, 8);
    hal_write(' ');
    for (uint8_t i = 0; i < sizeof lengths; i++)
        hal_write((uint8_t)('0' + block_setup(&kept.key, keys, lengths[i])));
    hal_stack_paint();
    block_encrypt(&kept.key, space + 1);
#ifndef BLOCK_ENCRYPTS_ALONE
    block_decrypt(&kept.key, space + 1);
#endif
    stack = hal_stack_depth();
    hal_write(' ');
    write_hex(stack, 8);
    time_blocks(block_encrypt, 1);
    time_blocks(block_encrypt, 0);
#ifndef BLOCK_ENCRYPTS_ALONE
    time_blocks(block_decrypt, 1);
    time_blocks(block_decrypt, 0);
#endif
    hal_write('.');
    for (;;) {
    }
}
