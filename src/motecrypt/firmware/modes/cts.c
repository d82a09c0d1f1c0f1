/* cts.c: CBC with ciphertext stealing (CS3) over any block cipher (block.h). See cts.h. */
#include "cts.h"
#include "chain.h"

uint8_t cipher_setup(struct cipher_context *context, const uint8_t *key, uint8_t key_bytes) {
    return block_setup(&context->key, key, key_bytes);
}

static uint8_t check(const struct cipher_io *io) {
    if (io->nonce_bytes != BLOCK_BYTES)
        return CIPHER_BAD_NONCE;
    return io->bytes < BLOCK_BYTES || io->ad_bytes != 0 ? CIPHER_BAD_LENGTH : CIPHER_OK;
}

/* Bytes of the last block, 1 to BLOCK_BYTES; 0 when there is but one block and nothing to steal from. */
static uint8_t tail_bytes(const struct cipher_io *io) {
    return io->bytes == BLOCK_BYTES ? 0 : (uint8_t)((io->bytes - 1) % BLOCK_BYTES + 1);
}

uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    uint8_t status = check(io);
    if (status != CIPHER_OK)
        return status;
    uint8_t tail = tail_bytes(io);
    size_t whole = io->bytes - tail;
    chain_encrypt(&context->key, io->nonce, io->input, io->output, whole);
    if (tail) {
        /* The block before the tail gives its first bytes away as the tail's ciphertext and takes the
         * tail's plaintext in, padded with zeros: one pass, no buffer, also in place. */
        uint8_t *block = io->output + whole - BLOCK_BYTES;
        for (uint8_t i = 0; i < tail; i++) {
            uint8_t plain = io->input[whole + i];
            io->output[whole + i] = block[i];
            block[i] ^= plain;
        }
        block_encrypt(&context->key, block);
    }
    return CIPHER_OK;
}

uint8_t cipher_decrypt(struct cipher_context *context, const struct cipher_io *io) {
    uint8_t status = check(io);
    if (status != CIPHER_OK)
        return status;
    uint8_t tail = tail_bytes(io);
    size_t whole = io->bytes - tail;
    if (tail) {
        /* Undo the exchange: afterwards the block before the tail is an ordinary CBC ciphertext block. */
        uint8_t *block = io->output + whole - BLOCK_BYTES;
        for (uint8_t i = 0; i < BLOCK_BYTES; i++)
            block[i] = io->input[whole - BLOCK_BYTES + i];
        block_decrypt(&context->key, block);
        for (uint8_t i = 0; i < tail; i++) {
            uint8_t stolen = io->input[whole + i];
            io->output[whole + i] = (uint8_t)(block[i] ^ stolen);
            block[i] = stolen;
        }
        whole -= BLOCK_BYTES;
        block_decrypt(&context->key, block);
        block_xor(block, block, whole ? io->input + whole - BLOCK_BYTES : io->nonce);
    }
    chain_decrypt(&context->key, io->nonce, io->input, io->output, whole);
    return CIPHER_OK;
}
