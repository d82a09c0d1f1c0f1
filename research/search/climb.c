/* climb.c: look for a shorter sequence of instructions for a kernel by random changes.
 *
 *     climb KERNEL SEED STEPS VARIABLES LOW,LOW... HIGH,HIGH... < sequence
 *
 * Register 0 holds x and in the end the result; the other variables begin with other values for each input. Low
 * constants are in registers that ordinary instructions read, high ones in those that only MOV and ADD read. The
 * sequence is read as a line "operation d a b" for each instruction, and the shortest right one is printed so.
 *
 * A change replaces an instruction or one of its operands, removes one, or exchanges two. It is kept if it
 * makes the sequence better (fewer wrong bits, fewer instructions), and sometimes if it makes it worse. A
 * sequence that is right for LANES inputs is then compared for CHECKED others. Every WANDERS steps it begins again
 * with the shortest, or with the last right one of that length.
 */
#include "machine.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACES 20
#define REGISTERS 12
#define LANES 16
#define CHECKED (1u << 16)
#define TEMPERATURE 2.0
#define WANDERS 50000 /* steps until it goes back to the shortest */

struct sequence {
    struct instruction at[PLACES];
};

static enum kernel kernel;
static int variables, lows, highs;
static uint32_t low[REGISTERS], high[REGISTERS];
static uint32_t input[LANES], wanted[LANES];
static uint64_t state;

static uint32_t any(uint32_t below) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((state >> 32) * below >> 32);
}

/* What register 0 holds after the sequence, for LANES inputs. */
static void run(const struct sequence *s, const uint32_t *x, uint32_t *result) {
    uint32_t r[REGISTERS][LANES];

    for (int i = 0; i < LANES; i++)
        r[0][i] = x[i];
    for (int v = 1; v < variables; v++)
        for (int i = 0; i < LANES; i++)
            r[v][i] = (x[i] + (uint32_t)v) * 2654435761u;
    for (int c = 0; c < lows; c++)
        for (int i = 0; i < LANES; i++)
            r[variables + c][i] = low[c];
    for (int place = 0; place < PLACES; place++) {
        struct instruction one = s->at[place];
        uint32_t *d = r[one.d];
        const uint32_t *a = r[one.a], *b = r[one.b];

        switch (one.operation) {
        case NOP:
            break;
        case MOV_HIGH:
        case ADD_HIGH:
            for (int i = 0; i < LANES; i++)
                d[i] = value_of(one.operation, d[i], high[one.a], 0);
            break;
        case LSLS:
        case LSRS:
        case ASRS:
            for (int i = 0; i < LANES; i++)
                d[i] = value_of(one.operation, 0, a[i], one.b);
            break;
        case ADDS:
        case SUBS:
            for (int i = 0; i < LANES; i++)
                d[i] = value_of(one.operation, 0, a[i], b[i]);
            break;
        default:
            for (int i = 0; i < LANES; i++)
                d[i] = value_of(one.operation, d[i], a[i], 0);
        }
    }
    memcpy(result, r[0], sizeof(r[0]));
}

static int wrong_bits(const struct sequence *s) {
    uint32_t result[LANES];
    int wrong = 0;

    run(s, input, result);
    for (int i = 0; i < LANES; i++)
        wrong += __builtin_popcount(result[i] ^ wanted[i]);
    return wrong;
}

static int length_of(const struct sequence *s) {
    int length = 0;

    for (int i = 0; i < PLACES; i++)
        length += s->at[i].operation != NOP;
    return length;
}

/* Whether the sequence is right for CHECKED inputs. */
static int is_right(const struct sequence *s) {
    uint32_t x[LANES], result[LANES], next = 0x9e3779b9;

    for (uint32_t done = 0; done < CHECKED; done += LANES) {
        for (int i = 0; i < LANES; i++)
            x[i] = next = next * 1664525 + 1013904223;
        run(s, x, result);
        for (int i = 0; i < LANES; i++)
            if (result[i] != target_of(kernel, x[i]))
                return 0;
    }
    return 1;
}

static struct instruction random_instruction(void) {
    struct instruction one;
    uint32_t readable = (uint32_t)(variables + lows);

    do
        one.operation = (uint8_t)(1 + any(OPERATIONS - 1));
    while (one.operation >= MOV_HIGH && highs == 0);
    one.d = (uint8_t)any((uint32_t)variables);
    one.a = (uint8_t)any(one.operation >= MOV_HIGH ? (uint32_t)highs : readable);
    one.b = (uint8_t)(one.operation >= LSLS ? 1 + any(31) : any(readable));
    return one;
}

static void change(struct sequence *s) {
    struct instruction *one = &s->at[any(PLACES)], new = random_instruction();
    int place;

    switch (any(8)) {
    case 0:
    case 1:
        *one = new;
        break;
    case 2:
        one->operation = NOP;
        break;
    case 3: /* exchange two */
        place = (int)any(PLACES);
        new = s->at[place];
        s->at[place] = *one;
        *one = new;
        break;
    case 4: /* move one to the place before or behind */
        if (one > s->at) {
            new = one[-1];
            one[-1] = *one;
            *one = new;
        }
        break;
    case 5:
        one->d = (uint8_t)any((uint32_t)variables);
        break;
    case 6:
        if (one->operation < MOV_HIGH)
            one->a = (uint8_t)any((uint32_t)(variables + lows));
        break;
    default:
        one->b = (uint8_t)(one->operation >= LSLS ? 1 + any(31) : any((uint32_t)(variables + lows)));
    }
}

static int read_list(char *text, uint32_t *to) {
    int count = 0;

    for (char *word = strtok(text, ","); word && count < 6; word = strtok(NULL, ","))
        to[count++] = (uint32_t)strtoul(word, NULL, 16);
    return count;
}

static void print(const struct sequence *s) {
    for (int i = 0; i < PLACES; i++)
        if (s->at[i].operation != NOP)
            printf("%d %d %d %d\n", s->at[i].operation, s->at[i].d, s->at[i].a, s->at[i].b);
}

int main(int count, char **words) {
    struct sequence now, best;
    uint64_t steps, right = 0;
    int place = 0;
    unsigned operation, d, a, b;

    if (count != 7)
        return 2;
    kernel = (enum kernel)atoi(words[1]);
    state = strtoull(words[2], NULL, 10) * 0x9e3779b97f4a7c15 + 1;
    steps = strtoull(words[3], NULL, 10);
    variables = atoi(words[4]);
    lows = read_list(words[5], low);
    highs = read_list(words[6], high);
    if (kernel >= KERNELS || variables < 1 || variables > 4)
        return 2;
    memset(&now, 0, sizeof(now));
    while (place < PLACES && scanf("%u %u %u %u", &operation, &d, &a, &b) == 4)
        now.at[place++] = (struct instruction){(uint8_t)operation, (uint8_t)d, (uint8_t)a, (uint8_t)b};
    for (int i = 0; i < LANES; i++) {
        input[i] = any(0xffffffff) ^ any(0xffff) << 16;
        wanted[i] = target_of(kernel, input[i]);
    }
    if (wrong_bits(&now) || !is_right(&now)) {
        fprintf(stderr, "the sequence to begin with is wrong\n");
        return 3;
    }
    best = now;
    double cost = length_of(&now);
    for (uint64_t i = 0; i < steps; i++) {
        struct sequence next = now;

        if (i % WANDERS == 0) {
            now = next = best;
            cost = length_of(&best);
        }
        change(&next);
        int wrong = wrong_bits(&next), length = length_of(&next);
        double its_cost = 0.25 * wrong + length;
        if (its_cost > cost && any(1 << 20) >= (uint32_t)((1 << 20) * exp((cost - its_cost) / TEMPERATURE)))
            continue;
        now = next;
        cost = its_cost;
        if (wrong == 0) {
            right++;
            if ((length < length_of(&best) || (length == length_of(&best) && any(1024) == 0)) &&
                is_right(&next))
                best = next;
        }
    }
    print(&best);
    printf("length %d steps %" PRIu64 " right %" PRIu64 "\n", length_of(&best), steps, right);
    return 0;
}
