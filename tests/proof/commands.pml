/* commands.pml: which commands a receiver carries out, under restarts, losses and packets that are held back.
 *
 * R receives commands and sends messages; S hears some of these and sends commands, each of which names the newest that
 * it has heard. Somebody holds packets, and lets each arrive once, at any time: that no packet counts twice is the
 * replay window's affair (window.c). Numbers are smaller than the link's. RULES is 21 for version 2.1 of the link,
 * 20 for version 2.0; WITHOUT takes one rule of 2.1 away. PROVE chooses what is proven: 1, that a command is of this
 * start; 2, that a message serves one command; 0, both.
 */
#define FRESH 2 /* 16 in the link */
#define BLOCK 3 /* counters claimed at a time; 64 in the link */
#define MESSAGES 6
#define STARTS 2
#define HELD 2
#define NONE 255 /* one below 0, as the link counts */

byte sent, claimed, usable, starts; /* R: its next counter, the first one after a start, messages that may be named */
byte heard = NONE;                  /* S: the newest counter that it has heard */
byte names[HELD], made[HELD];       /* commands on their way: what each names, and R's starts when it was made */
bool on_way[HELD];
bool served[256];                   /* a command that named this message was carried out */
byte age, i;

#if RULES == 21
#define MAY (age < usable)
#else
#define MAY (age < FRESH)
#endif

init {
    do
    :: sent < MESSAGES -> /* R sends a message, and S hears it or does not */
        atomic {
            if
            :: sent == claimed -> claimed = claimed + BLOCK
            :: else
            fi;
            if
            :: usable < FRESH -> usable++
            :: else
            fi;
            if
            :: heard = sent
            :: skip
            fi;
            sent++
        }
    :: starts < STARTS -> /* R starts again: what was claimed and not used is skipped */
        atomic {
            starts++;
            sent = claimed;
#if WITHOUT == 1
            usable = FRESH
#else
            usable = 0
#endif
        }
    :: i = 0; /* S makes a command */
        atomic {
            do
            :: i < HELD && !on_way[i] -> on_way[i] = true; names[i] = heard; made[i] = starts; break
            :: i < HELD && on_way[i] -> i++
            :: i == HELD -> break
            od
        }
    :: on_way[0] || on_way[1] -> /* one arrives */
        atomic {
            if
            :: on_way[0] -> i = 0
            :: on_way[1] -> i = 1
            fi;
            on_way[i] = false;
            age = sent - 1 - names[i];
            if
            :: MAY ->
                assert(PROVE == 2 || (made[i] == starts && names[i] < sent));
                assert(PROVE == 1 || !served[names[i]]);
                served[names[i]] = true;
#if RULES == 21 && WITHOUT != 2
                usable = age
#endif
            :: else
            fi
        }
    :: break
    od
}
