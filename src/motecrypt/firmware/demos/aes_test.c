/* aes_test.c: a string encrypted and decrypted with AES-CBC and printed to the terminal, as the tests
 * aesTest1 to aesTest4 of "String and File Encryption with AES" do: our program, with the cipher that is
 * linked in. DEMO_NUMBER is the digit of the test in the string, DEMO_KEY_BYTES the length of the key. Key
 * and IV are for this demo only.
 */
#include <string.h>

#include "cipher.h"
#include "hal.h"
#include "terminal.h"
#include CIPHER_HEADER

enum { IV_BYTES = 16, PADDED = 48 };

static struct cipher_context context;
static uint8_t key[DEMO_KEY_BYTES], iv[IV_BYTES];
static uint8_t plain[PADDED] = "AES_Test_" DEMO_NUMBER " - Hello! Testing AES Encryption here";
static uint8_t sealed[PADDED], opened[PADDED];

/* The key is set up in each direction, and that is timed too. */
static uint8_t run(int decrypts, const uint8_t *input, uint8_t *output, uint32_t *took_us) {
    struct cipher_io io = {
        .nonce = iv, .input = input, .output = output, .bytes = PADDED, .nonce_bytes = IV_BYTES};
    uint32_t start = now_us();
    uint8_t status = cipher_setup(&context, key, sizeof key);
    if (status == CIPHER_OK) {
        status = decrypts ? cipher_decrypt(&context, &io) : cipher_encrypt(&context, &io);
    }
    *took_us = now_us() - start;
    return status;
}

static void put_time(const char *what, uint32_t us) {
    put_text(what);
    put_text(" Time (us): ");
    put_number(us);
    put_line("");
}

int main(void) {
    uint32_t encrypting_us, decrypting_us;
    uint8_t status;
    hal_init();
    for (uint32_t i = 0; i < sizeof key; i++) {
        key[i] = (uint8_t)(i * 7u + 1u);
    }
    for (uint32_t i = 0; i < sizeof iv; i++) {
        iv[i] = (uint8_t)(0xF0u - i);
    }
    put_text("INPUT: ");
    put_line((const char *)plain);
    status = run(0, plain, sealed, &encrypting_us);
    put_text("Cipher Text: ");
    put_hex(sealed, sizeof sealed);
    put_line("");
    put_time("Encryption", encrypting_us);
    status |= run(1, sealed, opened, &decrypting_us);
    opened[PADDED - 1] = 0;
    put_text("Plain Text: ");
    put_line((const char *)opened);
    put_time("Decryption", decrypting_us);
    put_line(status == CIPHER_OK && memcmp(plain, opened, sizeof plain) == 0 ? "SUCCESS" : "FAILED");
    end_of_demo();
    return 0;
}
