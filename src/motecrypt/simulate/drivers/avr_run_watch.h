/* SPDX-License-Identifier: GPL-3.0-or-later -- part of avr_run.c, which links libsimavr.
 * avr_run_watch.h: says once what is not modelled, when a firmware touches it. What that is comes from a file
 * (data/conformance.toml, as emulate/conformance.py writes it out): each line has a text, a tab, and conditions
 * "ADDRESS:MASK:VALUE", all of which must hold of the registers; VALUE "any": one of the mask's bits is set.
 */
#ifndef MOTECRYPT_AVR_RUN_WATCH_H
#define MOTECRYPT_AVR_RUN_WATCH_H

#include <simavr/sim_avr.h>
#include <simavr/sim_io.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WATCH_RULES = 48, WATCH_CONDITIONS = 4, WATCH_REGISTERS = 64, WATCH_IO_END = 0x100 };

struct watch_condition {
    uint16_t address;
    uint8_t mask, value, any;
};

struct watch_rule {
    char text[200];
    struct watch_condition conditions[WATCH_CONDITIONS];
    int condition_count, touched, told;
};

struct watch_register {
    avr_io_addr_t address;
    avr_io_write_t write;
    void *parameter;
};

static struct {
    struct watch_rule rules[WATCH_RULES];
    struct watch_register registers[WATCH_REGISTERS];
    int rule_count, register_count;
} watch;

static bool watch_holds(const avr_t *avr, const struct watch_rule *rule, avr_io_addr_t written, uint8_t value) {
    for (int i = 0; i < rule->condition_count; i++) {
        const struct watch_condition *c = &rule->conditions[i];
        uint8_t bits = (uint8_t)((c->address == written ? value : avr->data[c->address]) & c->mask);
        if (c->any ? bits == 0 : bits != c->value) {
            return false;
        }
    }
    return true;
}

static bool watch_names(const struct watch_rule *rule, avr_io_addr_t address) {
    for (int i = 0; i < rule->condition_count; i++) {
        if (rule->conditions[i].address == address) {
            return true;
        }
    }
    return false;
}

static void watch_on_write(avr_t *avr, avr_io_addr_t address, uint8_t value, void *parameter) {
    const struct watch_register *place = parameter;
    if (place->write != NULL) {
        place->write(avr, address, value, place->parameter);
    } else {
        avr->data[address] = value;
    }
    for (int i = 0; i < watch.rule_count; i++) {
        struct watch_rule *rule = &watch.rules[i];
        if (!rule->touched && watch_names(rule, address) && watch_holds(avr, rule, address, value)) {
            rule->touched = true;
        }
    }
}

static bool watch_read_rule(struct watch_rule *rule, char *line) {
    char *at = strchr(line, '\t');
    if (at == NULL || at - line >= (long)sizeof rule->text) {
        return false;
    }
    memcpy(rule->text, line, (size_t)(at - line));
    for (at = strtok(at, " \t\r\n"); at != NULL; at = strtok(NULL, " \t\r\n")) {
        struct watch_condition *c = &rule->conditions[rule->condition_count];
        char *rest;
        if (rule->condition_count == WATCH_CONDITIONS) {
            return false;
        }
        c->address = (uint16_t)strtoul(at, &rest, 0);
        c->mask = (uint8_t)strtoul(*rest == ':' ? rest + 1 : rest, &rest, 0);
        c->any = (uint8_t)(strcmp(rest, ":any") == 0);
        c->value = (uint8_t)strtoul(*rest == ':' ? rest + 1 : rest, NULL, 0);
        if (c->address < 0x20 || c->address >= WATCH_IO_END) {
            return false;
        }
        rule->condition_count++;
    }
    return rule->condition_count != 0;
}

/* Puts our handler before what is there for the register. */
static bool watch_hook(avr_t *avr, avr_io_addr_t address) {
    struct watch_register *place = &watch.registers[watch.register_count];
    avr_io_addr_t io = AVR_DATA_TO_IO(address);
    if (avr->io[io].w.c == watch_on_write) {
        return true;
    }
    if (watch.register_count == WATCH_REGISTERS) {
        return false;
    }
    *place = (struct watch_register){address, avr->io[io].w.c, avr->io[io].w.param};
    avr->io[io].w.c = watch_on_write;
    avr->io[io].w.param = place;
    watch.register_count++;
    return true;
}

/* Whether the file can be read and says what it should. */
static bool watch_open(avr_t *avr, const char *path) {
    char *line = NULL;
    size_t room = 0;
    FILE *file = fopen(path, "r");
    bool good = file != NULL;
    while (good && getline(&line, &room, file) >= 0) {
        struct watch_rule *rule = &watch.rules[watch.rule_count];
        good = watch.rule_count < WATCH_RULES && watch_read_rule(rule, line);
        for (int i = 0; good && i < rule->condition_count; i++) {
            good = watch_hook(avr, rule->conditions[i].address);
        }
        watch.rule_count += good;
    }
    if (file != NULL) {
        fclose(file);
    }
    return good;
}

/* Once a slice. */
static void watch_tell(void (*note)(const char *)) {
    for (int i = 0; i < watch.rule_count; i++) {
        if (watch.rules[i].touched && !watch.rules[i].told) {
            watch.rules[i].told = true;
            note(watch.rules[i].text);
        }
    }
}

#endif
