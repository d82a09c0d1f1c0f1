/* paper.c: a node that sends its temperature as the source paper does, to reproduce it: AES-CBC as a hex string,
 * IV zero and not sent, nothing authenticated. Nobody should deploy it; the exported example Thermometer is the safe one.
 *
 * NODE_KEY is the key as an initialiser, and never one of the link's; NODE_INTERVAL_MS the pause between readings.
 */
#include "node.h"

#include CIPHER_HEADER
#include "cipher.h"

static const uint8_t key[] = {NODE_KEY};
static struct cipher_context cipher;

enum { TEXT_BYTES = 14 };

/* "n=0001 t=21.4C": 14 bytes, as the source paper's shortest message has. */
static void write_reading(uint8_t *text, uint16_t number, int16_t tenths) {
    static const char form[] = "n=0000 t=00.0C";
    uint16_t amount = (uint16_t)(tenths < 0 ? -tenths : tenths);

    for (uint8_t i = 0; i < TEXT_BYTES; i++) {
        text[i] = (uint8_t)form[i];
    }
    for (uint8_t i = 5; i > 1; i--, number /= 10) {
        text[i] = (uint8_t)('0' + number % 10);
    }
    text[12] = (uint8_t)('0' + amount % 10);
    text[10] = (uint8_t)('0' + amount / 10 % 10);
    text[9] = (uint8_t)(tenths < 0 ? '-' : '0' + amount / 100 % 10);
}

static void send_hex(uint8_t byte) {
    static const char digits[] = "0123456789ABCDEF";

    node_write((uint8_t)digits[byte >> 4]);
    node_write((uint8_t)digits[byte & 15]);
}

static void send_reading(const uint8_t *text) {
    static const uint8_t iv[16];
    uint8_t block[16];
    struct cipher_io io = {iv, 0, block, block, 0, sizeof block, 0, sizeof iv};

    for (uint8_t i = 0; i < sizeof block; i++) {
        block[i] = i < TEXT_BYTES ? text[i] : sizeof block - TEXT_BYTES; /* PKCS#7 */
    }
    if (cipher_encrypt(&cipher, &io) == CIPHER_OK) {
        for (uint8_t i = 0; i < sizeof block; i++) {
            send_hex(block[i]);
        }
    }
}

int main(void) {
    node_init();
    if (cipher_setup(&cipher, key, sizeof key) != CIPHER_OK) {
        for (;;) {
            node_wait(1000);
        }
    }
    for (uint16_t number = 1;; number++) {
        uint8_t text[TEXT_BYTES];

        write_reading(text, number, node_temperature());
        send_reading(text);
        node_wait(NODE_INTERVAL_MS);
    }
}
