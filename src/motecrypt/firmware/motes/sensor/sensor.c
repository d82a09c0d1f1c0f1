/* sensor.c: a mote that reads a temperature, encrypts it and sends it by radio, again and again.
 *
 * MOTE_MODE_C: the source paper's way (AES-CBC as a hex string, IV zero and not sent), to reproduce it.
 * Otherwise: the safe link. MOTE_KEY is the key as an initialiser, MOTE_STREAM a number that differs
 * between motes with one key, MOTE_INTERVAL_MS the pause between readings.
 */
#include "mote.h"

#ifdef MOTE_MODE_C
#include CIPHER_HEADER
#include "cipher.h"
#else
#include "link.h"
#endif

static const uint8_t key[] = {MOTE_KEY};

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

#ifdef MOTE_MODE_C

static struct cipher_context cipher;

static void send_hex(uint8_t byte) {
    static const char digits[] = "0123456789ABCDEF";

    mote_write((uint8_t)digits[byte >> 4]);
    mote_write((uint8_t)digits[byte & 15]);
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

static uint8_t start(void) {
    return cipher_setup(&cipher, key, sizeof key) == CIPHER_OK;
}

#else

static struct link link;

static void send_reading(const uint8_t *text) {
    uint8_t message[1 + TEXT_BYTES] = {0}; /* 0: a plain message, not a file (link/files.py) */

    for (uint8_t i = 0; i < TEXT_BYTES; i++) {
        message[1 + i] = text[i];
    }
    /* An unconfirmed reading is not repeated under a new counter: the next one is fresher. */
    (void)link_send(&link, message, sizeof message);
}

static uint8_t start(void) {
    return link_init(&link, key, sizeof key, MOTE_STREAM) == LINK_ACCEPTED;
}

#endif

int main(void) {
    mote_init();
    if (!start()) {
        for (;;) { /* unusable key or damaged counter: rather silent than unsafe */
            mote_wait(1000);
        }
    }
    for (uint16_t number = 1;; number++) {
        uint8_t text[TEXT_BYTES];

        write_reading(text, number, mote_temperature());
        send_reading(text);
        mote_wait(MOTE_INTERVAL_MS);
    }
}
