/* oscore.c: OSCORE for a node. See oscore.h; names are those of RFC 8613. */
#include "oscore.h"

#include CIPHER_HEADER
#include "cipher.h"

#include <string.h>

#if CIPHER_TAG_BYTES != 8
#error "AES-CCM-16-64-128 has tags of 8 bytes"
#endif

enum {
    URI_SCHEME = 39,
    PROXY_URI = 35,
    FETCH = 0x05,
    PIV_BITS = 7,
    HAS_KID = 8,
    RESERVED = 0xF0, /* and the ID context, which is not supported */
    AAD_MAX = 14 + 5 + 2 + OSCORE_ID_MAX + OSCORE_PIV_MAX,
    OPTION_MAX = 1 + OSCORE_PIV_MAX + OSCORE_ID_MAX
};

/* Options that the outer message has: those for a proxy (RFC 8613, figure 5, class U). */
static uint8_t is_outer(uint16_t number) {
    return number == COAP_URI_HOST || number == COAP_URI_PORT || number == COAP_HOP_LIMIT ||
           number == PROXY_URI || number == URI_SCHEME;
}

static uint8_t is_request(uint8_t code) {
    return code >> 5 == 0;
}

/* AEAD nonce (5.2): length of the identifier, identifier, Partial IV, each to the right, added to the common
 * IV. */
static void make_nonce(uint8_t *nonce, const struct oscore *oscore, const uint8_t *id, uint8_t id_bytes,
                       const uint8_t *piv, uint8_t piv_bytes) {
    memcpy(nonce, oscore->iv, OSCORE_IV_BYTES);
    nonce[0] ^= id_bytes;
    for (uint8_t i = 0; i < id_bytes; i++) {
        nonce[OSCORE_IV_BYTES - 5 - id_bytes + i] ^= id[i];
    }
    for (uint8_t i = 0; i < piv_bytes; i++) {
        nonce[OSCORE_IV_BYTES - piv_bytes + i] ^= piv[i];
    }
}

/* A byte string of CBOR of less than 24 bytes. */
static uint8_t *add_string(uint8_t *to, const uint8_t *from, uint8_t bytes) {
    *to++ = (uint8_t)(0x40 | bytes);
    memcpy(to, from, bytes);
    return to + bytes;
}

/* Enc_structure (RFC 8152, 5.3) around the external_aad (5.4). Returns its length. */
static uint8_t make_aad(uint8_t *aad, const struct oscore_request *request) {
    static const uint8_t head[] = {0x83, 0x68, 'E', 'n', 'c', 'r', 'y', 'p', 't', '0', 0x40};
    uint8_t *to = aad + sizeof head;

    memcpy(aad, head, sizeof head);
    *to++ = (uint8_t)(0x40 | (7 + request->kid_bytes + request->piv_bytes)); /* at most 18 */
    *to++ = 0x85;
    *to++ = 1;    /* version of OSCORE */
    *to++ = 0x81; /* algorithms: */
    *to++ = 10;   /* AES-CCM-16-64-128 */
    to = add_string(to, request->kid, request->kid_bytes);
    to = add_string(to, request->piv, request->piv_bytes);
    *to++ = 0x40; /* no class I options */
    return (uint8_t)(to - aad);
}

/* Encrypt or decrypt in place, the tag behind the data. Returns whether that went well. */
static uint8_t seal(const uint8_t *key, const uint8_t *nonce, const struct oscore_request *request,
                    uint8_t *data, coap_size bytes, uint8_t decrypting) {
    struct cipher_context cipher;
    uint8_t aad[AAD_MAX], status;
    struct cipher_io io = {nonce, aad, data, data, data + bytes, bytes, 0, OSCORE_IV_BYTES};

    io.ad_bytes = make_aad(aad, request);
    if (cipher_setup(&cipher, key, OSCORE_KEY_BYTES) != CIPHER_OK) {
        return 0;
    }
    status = decrypting ? cipher_decrypt(&cipher, &io) : cipher_encrypt(&cipher, &io);
    return status == CIPHER_OK;
}

void oscore_begin(struct oscore *oscore) {
    oscore->send = oscore->send_kept;
    oscore->receive = oscore->receive_kept;
    oscore->window = 0xFFFFFFFF;
}

/* A new Partial IV. Returns an oscore_status. */
static uint8_t next_piv(struct oscore *oscore, uint8_t *piv, uint8_t *piv_bytes) {
    uint32_t number = oscore->send;

    if (number >= oscore->send_kept) {
        uint32_t before = oscore->send_kept;

        if (number > 0xFFFFFFFF - OSCORE_SEND_BLOCK) {
            return OSCORE_USED_UP;
        }
        oscore->send_kept = number + OSCORE_SEND_BLOCK;
        if (!oscore_keep(oscore)) {
            oscore->send_kept = before;
            return OSCORE_STORAGE;
        }
    }
    oscore->send++;
    *piv_bytes = 0;
    for (int8_t shift = 24; shift >= 0; shift = (int8_t)(shift - 8)) {
        if (*piv_bytes > 0 || number >> shift != 0 || shift == 0) {
            piv[(*piv_bytes)++] = (uint8_t)(number >> shift);
        }
    }
    return OSCORE_OK;
}

/* Whether a sequence number may still come. */
static uint8_t is_fresh(const struct oscore *oscore, uint32_t number) {
    uint32_t age = oscore->receive - 1 - number; /* where number < receive */

    return number >= oscore->receive || (age < OSCORE_WINDOW && (oscore->window >> age & 1) == 0);
}

/* Note that it has come, before anything is done about it. Returns whether storage has kept that. */
static uint8_t take(struct oscore *oscore, uint32_t number) {
    if (number >= oscore->receive_kept) {
        uint32_t before = oscore->receive_kept;

        oscore->receive_kept =
            number < 0xFFFFFFFF - OSCORE_RECEIVE_AHEAD ? number + OSCORE_RECEIVE_AHEAD : 0xFFFFFFFF;
        if (!oscore_keep(oscore)) {
            oscore->receive_kept = before;
            return 0;
        }
    }
    if (number >= oscore->receive) {
        uint32_t steps = number - oscore->receive + 1;

        oscore->window = steps < OSCORE_WINDOW ? oscore->window << steps | 1 : 1;
        oscore->receive = number + 1;
    } else {
        oscore->window |= (uint32_t)1 << (oscore->receive - 1 - number);
    }
    return 1;
}

uint8_t oscore_protect(struct oscore *oscore, struct oscore_request *request, const uint8_t *message,
                       coap_size bytes, uint8_t *to, coap_size room, coap_size *count) {
    struct coap_message plain;
    struct coap_option option;
    struct coap_writer outer, inner;
    uint8_t value[OPTION_MAX], value_bytes = 0, piv[OSCORE_PIV_MAX], piv_bytes = 0, nonce[OSCORE_IV_BYTES],
                               observes, code;
    coap_size begin;
    uint8_t named = 0;

    if (!coap_read(&plain, message, bytes) || plain.code == COAP_EMPTY) {
        return OSCORE_MALFORMED;
    }
    observes = coap_find(&option, &plain, COAP_OBSERVE);
    if (is_request(plain.code) || observes) {
        uint8_t status = next_piv(oscore, piv, &piv_bytes);

        if (status != OSCORE_OK) {
            return status;
        }
        value[value_bytes++] = piv_bytes;
        memcpy(value + value_bytes, piv, piv_bytes);
        value_bytes = (uint8_t)(value_bytes + piv_bytes);
        make_nonce(nonce, oscore, oscore->sender_id, oscore->sender_id_bytes, piv, piv_bytes);
    } else {
        make_nonce(nonce, oscore, request->kid, request->kid_bytes, request->piv, request->piv_bytes);
    }
    if (is_request(plain.code)) {
        value[0] |= HAS_KID;
        memcpy(value + value_bytes, oscore->sender_id, oscore->sender_id_bytes);
        value_bytes = (uint8_t)(value_bytes + oscore->sender_id_bytes);
        memcpy(request->kid, oscore->sender_id, oscore->sender_id_bytes);
        memcpy(request->piv, piv, piv_bytes);
        request->kid_bytes = oscore->sender_id_bytes;
        request->piv_bytes = piv_bytes;
        request->answered = 0;
        request->newest = 0;
        code = observes ? FETCH : COAP_POST;
    } else {
        code = observes ? COAP_CONTENT : COAP_CHANGED;
    }
    coap_begin(&outer, to, room, plain.kind, code, plain.mid, plain.token, plain.token_bytes);
    coap_first(&option, &plain);
    while (coap_next(&option)) {
        if (!named && option.number > COAP_OSCORE) {
            coap_add(&outer, COAP_OSCORE, value, value_bytes);
            named = 1;
        }
        if (is_outer(option.number) || option.number == COAP_OBSERVE) {
            coap_add(&outer, option.number, option.value, option.bytes);
        }
    }
    if (!named) {
        coap_add(&outer, COAP_OSCORE, value, value_bytes);
    }
    begin = (coap_size)(coap_end(&outer) + 1);
    if (begin == 1 || begin + 1u + OSCORE_TAG_BYTES > room) {
        return OSCORE_NO_ROOM;
    }
    to[begin - 1] = 0xFF;
    to[begin] = plain.code;
    inner.bytes = to + begin;
    inner.room = (coap_size)(room - begin - OSCORE_TAG_BYTES);
    inner.count = 1;
    inner.number = 0;
    inner.failed = 0;
    coap_first(&option, &plain);
    while (coap_next(&option)) {
        if (!is_outer(option.number)) {
            /* In a notification the number is the outer one's; the Partial IV keeps the order (4.1.3.5.2). */
            uint8_t empty = option.number == COAP_OBSERVE && !is_request(plain.code);

            coap_add(&inner, option.number, option.value, empty ? 0 : option.bytes);
        }
    }
    coap_add_payload(&inner, plain.payload, plain.payload_bytes);
    if (coap_end(&inner) == 0 || !seal(oscore->sender_key, nonce, request, inner.bytes, inner.count, 0)) {
        return OSCORE_NO_ROOM;
    }
    *count = (coap_size)(begin + inner.count + OSCORE_TAG_BYTES);
    return OSCORE_OK;
}

/* The option's parts (6.1). Returns whether it is one. */
static uint8_t read_option(const struct coap_option *option, const uint8_t **piv, uint8_t *piv_bytes,
                           const uint8_t **kid, uint8_t *kid_bytes, uint8_t *has_kid) {
    uint8_t flags = option->bytes > 0 ? option->value[0] : 0;

    *piv_bytes = flags & PIV_BITS;
    *has_kid = (flags & HAS_KID) != 0;
    *piv = option->value + 1;
    *kid = *piv + *piv_bytes;
    *kid_bytes = 0;
    if (option->bytes == 0) {
        return 1;
    }
    if (flags == 0 || (flags & RESERVED) != 0 || *piv_bytes > OSCORE_PIV_MAX ||
        option->bytes < 1u + *piv_bytes) {
        return 0;
    }
    if (*has_kid) {
        if (option->bytes - 1u - *piv_bytes > OSCORE_ID_MAX) {
            return 0;
        }
        *kid_bytes = (uint8_t)(option->bytes - 1u - *piv_bytes);
    } else if (option->bytes != 1u + *piv_bytes) {
        return 0;
    }
    return 1;
}

/* The next option that counts, of the outer message if `outer`. Returns 0 when there is none. */
static uint8_t next_of(struct coap_option *option, uint8_t outer) {
    while (coap_next(option)) {
        if (is_outer(option->number) == outer) {
            return 1;
        }
    }
    return 0;
}

/* Write the plain message: options of both, in order, and the payload of the inner one. A notification gets
 * `number`. */
static coap_size join(const struct coap_message *sealed, const struct coap_message *inner, uint32_t number,
                      uint8_t *to, coap_size room) {
    struct coap_writer writer;
    struct coap_option outer, other;
    uint8_t has_outer, has_other;

    coap_begin(&writer, to, room, sealed->kind, inner->code, sealed->mid, sealed->token, sealed->token_bytes);
    coap_first(&outer, sealed);
    coap_first(&other, inner);
    has_outer = next_of(&outer, 1);
    has_other = next_of(&other, 0);
    while (has_outer || has_other) {
        if (has_outer && (!has_other || outer.number < other.number)) {
            coap_add(&writer, outer.number, outer.value, outer.bytes);
            has_outer = next_of(&outer, 1);
        } else {
            if (other.number == COAP_OBSERVE && !is_request(inner->code)) {
                coap_add_number(&writer, COAP_OBSERVE, number & 0xFFFFFF);
            } else {
                coap_add(&writer, other.number, other.value, other.bytes);
            }
            has_other = next_of(&other, 0);
        }
    }
    coap_add_payload(&writer, inner->payload, inner->payload_bytes);
    return coap_end(&writer);
}

uint8_t oscore_unprotect(struct oscore *oscore, struct oscore_request *request, uint8_t *message,
                         coap_size bytes, uint8_t *to, coap_size room, coap_size *count) {
    struct coap_message sealed, inner;
    struct coap_option option;
    const uint8_t *piv, *kid;
    uint8_t piv_bytes, kid_bytes, has_kid, nonce[OSCORE_IV_BYTES], *data;
    coap_size inner_bytes;
    uint32_t number = 0;

    if (!coap_read(&sealed, message, bytes) || sealed.code == COAP_EMPTY) {
        return OSCORE_MALFORMED;
    }
    if (!coap_find(&option, &sealed, COAP_OSCORE)) {
        return OSCORE_PLAIN;
    }
    if (!read_option(&option, &piv, &piv_bytes, &kid, &kid_bytes, &has_kid) ||
        sealed.payload_bytes < 1 + OSCORE_TAG_BYTES) {
        return OSCORE_MALFORMED;
    }
    for (uint8_t i = 0; i < piv_bytes; i++) {
        number = number << 8 | piv[i];
    }
    if (is_request(sealed.code)) {
        if (!has_kid || piv_bytes == 0) {
            return OSCORE_MALFORMED;
        }
        if (kid_bytes != oscore->recipient_id_bytes || memcmp(kid, oscore->recipient_id, kid_bytes) != 0) {
            return OSCORE_UNKNOWN;
        }
        if (number == 0xFFFFFFFF || !is_fresh(oscore, number)) {
            return OSCORE_REPLAYED;
        }
        memcpy(request->kid, kid, kid_bytes);
        memcpy(request->piv, piv, piv_bytes);
        request->kid_bytes = kid_bytes;
        request->piv_bytes = piv_bytes;
    } else if (piv_bytes == 0 ? request->answered : number == 0xFFFFFFFF || number < request->newest) {
        return OSCORE_REPLAYED;
    }
    if (piv_bytes > 0) {
        make_nonce(nonce, oscore, oscore->recipient_id, oscore->recipient_id_bytes, piv, piv_bytes);
    } else {
        make_nonce(nonce, oscore, request->kid, request->kid_bytes, request->piv, request->piv_bytes);
    }
    data = message + (sealed.payload - message);
    inner_bytes = (coap_size)(sealed.payload_bytes - OSCORE_TAG_BYTES);
    if (!seal(oscore->recipient_key, nonce, request, data, inner_bytes, 1)) {
        return OSCORE_FORGED;
    }
    if (is_request(sealed.code) && !take(oscore, number)) {
        return OSCORE_STORAGE;
    }
    inner.code = data[0];
    if (inner.code == COAP_EMPTY || is_request(inner.code) != is_request(sealed.code) ||
        !coap_read_body(&inner, data + 1, (coap_size)(inner_bytes - 1))) {
        return OSCORE_MALFORMED;
    }
    *count = join(&sealed, &inner, piv_bytes > 0 ? number + 1 : 0, to, room);
    if (*count == 0) {
        return OSCORE_NO_ROOM;
    }
    if (!is_request(sealed.code)) {
        if (piv_bytes == 0) {
            request->answered = 1;
        } else {
            request->newest = number + 1;
        }
    }
    return OSCORE_OK;
}
