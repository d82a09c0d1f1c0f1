/* poly1305_driver.c: runs Poly1305 alone over requests from standard input, for the tests, under the address
 * and undefined-behaviour sanitizers. Every buffer is exactly as long as it has to be, so that a step outside
 * is seen.
 *
 * A request: a byte that counts the blocks, the key of 32 bytes, the blocks of 16. The answer: the tag.
 */
#include CIPHER_HEADER

#include <stdio.h>
#include <stdlib.h>

static uint8_t *bytes(size_t count) {
    uint8_t *at = malloc(count);

    if (at == NULL || fread(at, 1, count, stdin) != count) {
        exit(2);
    }
    return at;
}

int main(void) {
    for (int blocks; (blocks = getchar()) != EOF;) {
        struct poly1305 *state = malloc(sizeof *state);
        uint8_t *key = bytes(32);
        uint8_t *tag = malloc(16);

        poly1305_start(state, key);
        free(key);
        for (int i = 0; i < blocks; i++) {
            uint8_t *block = bytes(16);

            poly1305_block(state, block);
            free(block);
        }
        poly1305_finish(state, tag);
        fwrite(tag, 1, 16, stdout);
        free(tag);
        free(state);
    }
    return 0;
}
