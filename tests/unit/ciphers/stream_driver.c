/* stream_driver.c: runs one cipher without nonce or tag on lines of hex from standard input, for the
 * tests, under the address and undefined-behaviour sanitizers. Every buffer is exactly as long as it has
 * to be, so that a step outside is seen.
 *
 * A line: e|d i|o key message. e encrypt, d decrypt; i in place, o to a buffer of its own. A dash for an
 * empty message. Each line is run twice on one context. It prints the output in hex, or a status.
 */
#include "cipher.h"
#include CIPHER_HEADER

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char line[300000];

/* The bytes of a hex string in a buffer of their own; NULL for none. */
static uint8_t *bytes_of(const char *hex, size_t *count) {
    *count = hex[0] == '-' ? 0 : strlen(hex) / 2;
    uint8_t *bytes = *count == 0 ? NULL : malloc(*count);
    for (size_t at = 0; at < *count; at++) {
        unsigned int byte = 0;
        sscanf(hex + 2 * at, "%2x", &byte);
        bytes[at] = (uint8_t)byte;
    }
    return bytes;
}

static uint8_t run(struct cipher_context *context, char direction, const uint8_t *input, uint8_t *output,
                   size_t count) {
    struct cipher_io io = {.input = input, .output = output, .bytes = count};
    return direction == 'e' ? cipher_encrypt(context, &io) : cipher_decrypt(context, &io);
}

int main(void) {
    while (fgets(line, sizeof line, stdin) != NULL) {
        const char *direction = strtok(line, " \n");
        const char *place = strtok(NULL, " \n");
        size_t key_count = 0;
        size_t count = 0;
        uint8_t *key = bytes_of(strtok(NULL, " \n"), &key_count);
        uint8_t *input = bytes_of(strtok(NULL, " \n"), &count);
        uint8_t *output = count == 0 ? NULL : malloc(count);
        uint8_t *kept = count == 0 ? NULL : malloc(count);
        struct cipher_context *context = malloc(sizeof *context);
        uint8_t status = cipher_setup(context, key, (uint8_t)key_count);
        free(key); /* setup has to keep what it needs */
        for (int time = 0; time < 2 && status == CIPHER_OK; time++) {
            if (count != 0) {
                memcpy(kept, input, count);
            }
            if (*place == 'i') {
                if (count != 0) {
                    memcpy(output, input, count);
                }
                status = run(context, *direction, output, output, count);
            } else {
                status = run(context, *direction, input, output, count);
            }
            if (count != 0 && memcmp(kept, input, count) != 0) {
                status = 100; /* the input was changed */
            }
        }
        if (status != CIPHER_OK) {
            printf("status %u", status);
        } else if (count == 0) {
            printf("-");
        }
        for (size_t at = 0; at < count && status == CIPHER_OK; at++) {
            printf("%02x", output[at]);
        }
        printf("\n");
        free(context);
        free(input);
        free(output);
        free(kept);
    }
    return 0;
}
