/* aes_rv32_blocks.c: round keys and chains of blocks around the rounds in aes_rv32.S; see aes_rv32.h.
 *
 * These cores fault on a word at an address that is no multiple of four, and a message may be at any. So
 * blocks are accessed by words where both allow it, else by bytes.
 */
#include "block.h"

/* Words of a message, whose type is another. */
typedef uint32_t __attribute__((may_alias)) message_word;

/* `last` is the last round key. `from` and `to` may be the same. */
void aes_rv32_encrypt(const uint32_t *keys, const uint32_t *from, uint32_t *to, const uint32_t *last);
void aes_rv32_decrypt(const uint32_t *keys, const uint32_t *from, uint32_t *to, const uint32_t *last);

/* The first of the tables: in an entry the second and the third byte are the substituted one. */
extern const uint32_t aes_rv32_mixed[256];

#if CIPHER_KEY_BYTES_MAX > 16
#define LAST(key) ((key)->last)
#else
#define LAST(key) 40
#endif
#define INLINE __attribute__((always_inline)) static inline

INLINE void encrypt(const struct block_key *key, const uint32_t *from, uint32_t *to) {
    aes_rv32_encrypt(key->encrypt_keys, from, to, key->encrypt_keys + LAST(key));
}

INLINE uint8_t by_words(const void *address) {
    return ((uintptr_t)address & 3) == 0;
}

/* The compiler must not see that words and bytes have the same address: else it may load a word ahead of the
 * branch on its alignment. */
#define HIDE(address) __asm__ volatile("" : "+r"(address))

static uint32_t load_bytes(const uint8_t *bytes) {
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

INLINE void load(uint32_t *words, const uint8_t *bytes) {
    if (by_words(bytes)) {
        const message_word *from = (const message_word *)(const void *)bytes;
        HIDE(from);
        words[0] = from[0], words[1] = from[1], words[2] = from[2], words[3] = from[3];
    } else
        for (uint8_t i = 0; i < 4; i++)
            words[i] = load_bytes(bytes + 4 * i);
}

INLINE void store(uint8_t *bytes, const uint32_t *words) {
    if (by_words(bytes)) {
        message_word *to = (message_word *)(void *)bytes;
        HIDE(to);
        to[0] = words[0], to[1] = words[1], to[2] = words[2], to[3] = words[3];
    } else
        for (uint8_t i = 0; i < BLOCK_BYTES; i++)
            bytes[i] = (uint8_t)(words[i / 4] >> 8 * (i % 4));
}

/* --- round keys: FIPS 197, 5.2 */

static uint32_t substitute(uint32_t word) {
    return (aes_rv32_mixed[word & 0xff] >> 8 & 0xff) | (aes_rv32_mixed[word >> 8 & 0xff] & 0xff00) |
           (aes_rv32_mixed[word >> 16 & 0xff] & 0xff0000) | (aes_rv32_mixed[word >> 24] << 8 & 0xff000000);
}

#ifndef BLOCK_ENCRYPTS_ALONE
#define ROTATE(word, bits) ((word) << (bits) | (word) >> (32 - (bits)))

/* Four bytes twice. */
INLINE uint32_t twice(uint32_t word) {
    uint32_t high = word & 0x80808080;
    return (word ^ high) << 1 ^ ((high - (high >> 7)) & 0x1b1b1b1b);
}

/* InvMixColumns is MixColumns of 5 x + 4 y, where y is x rotated by two bytes (The Design of
 * Rijndael, 4.1.3). */
INLINE uint32_t unmix(uint32_t x) {
    x ^= twice(twice(x ^ ROTATE(x, 16)));
    uint32_t next = ROTATE(x, 24), sum = x ^ next;
    return twice(sum) ^ next ^ ROTATE(sum, 16);
}

/* FIPS 197, 5.3.5: the round keys in the order of their use, all but the first and the last unmixed. */
static void unmix_keys(struct block_key *key) {
    uint32_t *to = key->decrypt_keys;
    for (const uint32_t *from = key->encrypt_keys + LAST(key);; from -= 4) {
        uint8_t ends = from == key->encrypt_keys || to == key->decrypt_keys;
        for (uint8_t i = 0; i < 4; i++)
            *to++ = ends ? from[i] : unmix(from[i]);
        if (from == key->encrypt_keys)
            return;
    }
}
#endif

uint8_t block_setup(struct block_key *key, const uint8_t *bytes, uint8_t key_bytes) {
    if ((key_bytes != 16 && key_bytes != 24 && key_bytes != 32) || key_bytes > CIPHER_KEY_BYTES_MAX)
        return CIPHER_BAD_KEY;
#if CIPHER_KEY_BYTES_MAX > 16
    key->last = (uint32_t)key_bytes + 24;
#endif
    uint32_t *to = key->encrypt_keys;
    const uint32_t *before = to, *const end = to + LAST(key) + 4;
    uint32_t word = 0, constant = 1;
    uint8_t words = key_bytes / 4, at = 0;
    for (uint8_t i = 0; i < words; i++)
        *to++ = word = load_bytes(bytes + 4 * i);
    for (; to != end; at++) {
        if (at == words)
            at = 0;
        if (at == 0) {
            word = substitute(word >> 8 | word << 24) ^ constant;
            constant = constant << 1 ^ (0x11b & -(constant >> 7));
        } else if (at == 4 && words == 8)
            word = substitute(word);
        *to++ = word ^= *before++;
    }
#ifndef BLOCK_ENCRYPTS_ALONE
    unmix_keys(key);
#endif
    return CIPHER_OK;
}

/* --- blocks */

void block_encrypt_words(const struct block_key *key, uint32_t *block) {
    encrypt(key, block, block);
}

void block_encrypt(const struct block_key *key, uint8_t *block) {
    uint32_t words[4];
    load(words, block);
    encrypt(key, words, words);
    store(block, words);
}

#ifndef BLOCK_ENCRYPTS_ALONE
INLINE void decrypt(const struct block_key *key, uint32_t *words) {
    aes_rv32_decrypt(key->decrypt_keys, words, words, key->decrypt_keys + LAST(key));
}

void block_decrypt(const struct block_key *key, uint8_t *block) {
    uint32_t words[4];
    load(words, block);
    decrypt(key, words);
    store(block, words);
}
#endif

/* Add one to the counter, whose highest byte is its first: to its last word, and on a carry to the others. */
INLINE void count(uint32_t *counter) {
    uint8_t i = 4;
    do {
        uint32_t word = counter[--i];
        word = (word >> 24 | (word >> 8 & 0xff00) | (word << 8 & 0xff0000) | word << 24) + 1;
        counter[i] = word >> 24 | (word >> 8 & 0xff00) | (word << 8 & 0xff0000) | word << 24;
    } while (i != 0 && counter[i] == 0);
}

INLINE void add(uint32_t *to, const uint32_t *words) {
    to[0] ^= words[0], to[1] ^= words[1], to[2] ^= words[2], to[3] ^= words[3];
}

void block_stream(const struct block_key *key, struct block_stream *stream, size_t blocks,
                  enum block_streaming kind) {
    uint32_t input[4];
    for (; blocks; blocks--, stream->input += BLOCK_BYTES, stream->output += BLOCK_BYTES) {
        encrypt(key, stream->counter, stream->stream);
        count(stream->counter);
        load(input, stream->input);
        add(stream->stream, input);
        store(stream->output, stream->stream);
        if (kind == STREAM_ALONE)
            continue;
        add(stream->mac, kind == STREAM_DECRYPTING ? stream->stream : input);
        encrypt(key, stream->mac, stream->mac);
    }
}

/* For both, struct block_stream has the block before in `mac`. */
void block_chain_encrypt(const struct block_key *key, struct block_stream *stream, size_t blocks) {
    uint32_t input[4];
    for (; blocks; blocks--, stream->input += BLOCK_BYTES, stream->output += BLOCK_BYTES) {
        load(input, stream->input);
        add(stream->mac, input);
        encrypt(key, stream->mac, stream->mac);
        store(stream->output, stream->mac);
    }
}

#ifndef BLOCK_ENCRYPTS_ALONE
void block_chain_decrypt(const struct block_key *key, struct block_stream *stream, size_t blocks) {
    uint32_t input[4], words[4];
    for (; blocks; blocks--, stream->input += BLOCK_BYTES, stream->output += BLOCK_BYTES) {
        load(input, stream->input);
        for (uint8_t i = 0; i < 4; i++)
            words[i] = input[i];
        decrypt(key, words);
        add(words, stream->mac);
        store(stream->output, words);
        for (uint8_t i = 0; i < 4; i++)
            stream->mac[i] = input[i];
    }
}
#endif
