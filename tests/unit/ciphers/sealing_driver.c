/* sealing_driver.c: runs one cipher with nonce, associated data and tag on lines of hex from standard
 * input, for the tests, under the address and undefined-behaviour sanitizers. Every buffer is exactly as
 * long as it has to be and NULL when it is empty, so that a step outside is seen.
 *
 * A line: e|d i|o key nonce ad message tag. e encrypt, d decrypt; i in place, o to a buffer of its own. A
 * dash for what is empty. It prints the status, the output and the tag in hex. Encrypting runs twice on
 * one context, which must still hold the key, and says "differs" when the second time gives another output.
 */
#include "cipher.h"
#include CIPHER_HEADER

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char line[600000];

struct bytes {
    uint8_t *at;
    size_t count;
};

static struct bytes bytes_of(const char *hex) {
    struct bytes bytes = {NULL, hex[0] == '-' ? 0 : strlen(hex) / 2};

    if (bytes.count > 0) {
        bytes.at = malloc(bytes.count);
    }
    for (size_t i = 0; i < bytes.count; i++) {
        unsigned int byte = 0;

        sscanf(hex + 2 * i, "%2x", &byte);
        bytes.at[i] = (uint8_t)byte;
    }
    return bytes;
}

static void show(const uint8_t *bytes, size_t count) {
    putchar(' ');
    if (count == 0) {
        putchar('-');
    }
    for (size_t i = 0; i < count; i++) {
        printf("%02x", bytes[i]);
    }
}

static struct bytes field(void) {
    return bytes_of(strtok(NULL, " \n"));
}

int main(void) {
    while (fgets(line, sizeof line, stdin) != NULL) {
        char direction = strtok(line, " \n")[0];
        char place = strtok(NULL, " \n")[0];
        struct bytes key = field();
        struct bytes nonce = field();
        struct bytes ad = field();
        struct bytes message = field();
        struct bytes tag = field();
        uint8_t *output = message.count > 0 ? malloc(message.count) : NULL;
        uint8_t *first = malloc(message.count + 1);
        uint8_t *out_tag = CIPHER_TAG_BYTES > 0 ? malloc(CIPHER_TAG_BYTES) : NULL;
        struct cipher_context *context = malloc(sizeof *context);
        uint8_t status = cipher_setup(context, key.at, (uint8_t)key.count);

        free(key.at); /* setup has to keep what it needs */
        for (int time = 0; time < 2 && status == CIPHER_OK; time++) {
            struct cipher_io io = {.nonce = nonce.at,
                                   .ad = ad.at,
                                   .input = message.at,
                                   .output = output,
                                   .tag = out_tag,
                                   .bytes = message.count,
                                   .ad_bytes = ad.count,
                                   .nonce_bytes = (uint8_t)nonce.count};

            if (message.count > 0) {
                memcpy(output, message.at, message.count);
            }
            if (place == 'i') {
                io.input = output;
            }
            if (direction == 'd') {
                if (tag.count > 0) {
                    memcpy(out_tag, tag.at, tag.count);
                }
                status = cipher_decrypt(context, &io);
            } else {
                status = cipher_encrypt(context, &io);
            }
            if (time == 0 && message.count > 0) {
                memcpy(first, output, message.count);
            } else if (message.count > 0 && memcmp(first, output, message.count) != 0) {
                printf("differs ");
            }
        }
        printf("%u", status);
        if (status == CIPHER_OK || status == CIPHER_BAD_TAG) {
            show(output, message.count);
            show(out_tag, CIPHER_TAG_BYTES);
        }
        putchar('\n');
        free(nonce.at);
        free(ad.at);
        free(message.at);
        free(tag.at);
        free(output);
        free(first);
        free(out_tag);
        free(context);
    }
    return 0;
}
