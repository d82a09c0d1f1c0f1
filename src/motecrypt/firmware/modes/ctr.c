/* ctr.c: the mode counter over any block cipher (block.h). See ctr.h. Uses block_encrypt alone. */
#include "ctr.h"
#include "chain.h"

uint8_t cipher_setup(struct cipher_context *context, const uint8_t *key, uint8_t key_bytes) {
    return block_setup(&context->key, key, key_bytes);
}

#ifdef BLOCK_STREAMS
uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    struct block_stream stream;
    uint8_t left = (uint8_t)(io->bytes % BLOCK_BYTES);
    if (io->nonce_bytes != BLOCK_BYTES)
        return CIPHER_BAD_NONCE;
    if (io->ad_bytes != 0)
        return CIPHER_BAD_LENGTH;
    stream.input = io->input;
    stream.output = io->output;
    block_copy((uint8_t *)stream.counter, io->nonce);
    block_stream(&context->key, &stream, io->bytes / BLOCK_BYTES, STREAM_ALONE);
    if (left) {
        block_encrypt_words(&context->key, stream.counter);
        for (uint8_t i = 0; i < left; i++)
            stream.output[i] = (uint8_t)(stream.input[i] ^ ((uint8_t *)stream.counter)[i]);
    }
    return CIPHER_OK;
}

#else

/* Add one to a big-endian number of BLOCK_BYTES; it always touches every byte, so its time is constant. */
static void increment(uint8_t *counter) {
#if BLOCK_BY_WORDS /* by words, see block.h: the next block loads them again directly */
    uint64_t carry = 1;
    for (uint8_t i = BLOCK_BYTES; i > 0; i = (uint8_t)(i - 4)) {
        uint32_t word;
        __builtin_memcpy(&word, counter + i - 4, sizeof word);
        carry += __builtin_bswap32(word);
        word = __builtin_bswap32((uint32_t)carry);
        __builtin_memcpy(counter + i - 4, &word, sizeof word);
        carry >>= 32;
    }
#else
    uint16_t sum = 0x100;
    for (uint8_t i = BLOCK_BYTES; i-- > 0;) {
        sum = (uint16_t)(counter[i] + (sum >> 8));
        counter[i] = (uint8_t)sum;
    }
#endif
}

uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    uint8_t counter[BLOCK_BYTES], stream[BLOCK_BYTES];
    const uint8_t *input = io->input;
    uint8_t *output = io->output;
    size_t left = io->bytes;
    if (io->nonce_bytes != BLOCK_BYTES)
        return CIPHER_BAD_NONCE;
    if (io->ad_bytes != 0)
        return CIPHER_BAD_LENGTH;
    block_copy(counter, io->nonce);
#ifdef BLOCK_PAIRS
    for (; left >= 2 * BLOCK_BYTES; left -= 2 * BLOCK_BYTES) {
        uint8_t pair[2 * BLOCK_BYTES];
        for (uint8_t i = 0; i < 2; i++) {
            block_copy(pair + i * BLOCK_BYTES, counter);
            increment(counter);
        }
        block_encrypt_pair(&context->key, pair);
        for (uint8_t i = 0; i < 2; i++, input += BLOCK_BYTES, output += BLOCK_BYTES)
            block_xor(output, input, pair + i * BLOCK_BYTES);
    }
#endif
    while (left) {
        uint8_t now = (uint8_t)(left < BLOCK_BYTES ? left : BLOCK_BYTES);
        block_copy(stream, counter);
        block_encrypt(&context->key, stream);
        if (BLOCK_BY_WORDS && now == BLOCK_BYTES) {
            block_xor(output, input, stream);
            output += now;
            input += now;
        } else {
            for (uint8_t i = 0; i < now; i++)
                *output++ = (uint8_t)(*input++ ^ stream[i]);
        }
        increment(counter);
        left -= now;
    }
    return CIPHER_OK;
}

#endif

uint8_t cipher_decrypt(struct cipher_context *context, const struct cipher_io *io) {
    return cipher_encrypt(context, io);
}
