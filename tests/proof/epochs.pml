/* epochs.pml: restorations of a gateway's record, and the epochs that they begin.
 *
 * A gateway G offers its node N an epoch after each restoration; offers and answers are lost or arrive, and somebody
 * holds one offer back. G sends messages once N has confirmed. The clock stops, runs or is set back. RULES is 21 for
 * version 2.1 of the link, 20 for version 2.0; WITHOUT takes one rule of 2.1 away. A salt stands for the random bits of
 * an epoch: each is new, and above or below the ones before. PROVE chooses what is proven: 1, that no epoch's keys are
 * used again; 2, that a node is reached when nothing is lost, and that no offer that was held back takes it away; 0,
 * both.
 */
#define RESTORED 3
#define NUMBERS 12
#define SALTS 7

byte g_number, g_salt, n_number, n_salt; /* the epochs of both ends */
byte b_number, b_salt;                   /* of the backup */
byte h_number, h_salt;                   /* of the offer that is held back */
bool b_offers, offers, used[NUMBERS * 8];          /* epochs, number and salt, in which G has sent */
bool taken[SALTS + 1];
byte salt, clock = 1, restored, tries, answer;
bool agreed = true;

#define EPOCH (g_number * 8 + g_salt)
#if RULES == 21 && WITHOUT == 3
#define ABOVE(number, salt) (number > n_number || (number == n_number && salt > n_salt)) /* random bits count, too */
#else
#define ABOVE(number, salt) (number > n_number)
#endif

inline begin_epoch(least) {
#if RULES == 21
    g_number = least + 1;
#if WITHOUT != 1
    select (salt : 1 .. SALTS);
    do
    :: taken[salt] -> salt = salt % SALTS + 1
    :: else -> break
    od;
    taken[salt] = true;
    g_salt = salt;
    salt = 0;
#endif
#else
    g_number = (clock > least + 1 -> clock : least + 1);
    g_salt = 0;
#endif
    offers = true;
    agreed = false;
    assert(PROVE == 2 || !used[EPOCH]) /* its counters begin at 0: they would be used again under the same keys */
}

inline offer() { /* N gets it and answers */
    if
    :: g_number == n_number && g_salt == n_salt -> answer = 1
    :: ABOVE(g_number, g_salt) -> n_number = g_number; n_salt = g_salt; answer = 1
    :: else -> answer = 2
    fi
}

inline answered() { /* G gets the answer */
    if
    :: answer == 1 -> offers = false; agreed = true
    :: answer == 2 ->
#if RULES == 21 && WITHOUT != 2
        begin_epoch(n_number)
#endif
        skip
    fi
}

init {
    do
    :: !offers -> used[EPOCH] = true /* G sends */
    :: b_number = g_number; b_salt = g_salt; b_offers = offers /* a backup */
    :: offers && h_number == 0 -> h_number = g_number; h_salt = g_salt /* an offer is held back, */
    :: h_number != 0 -> /* and arrives: its answer says nothing of another one */
        atomic {
            if
            :: ABOVE(h_number, h_salt) -> n_number = h_number; n_salt = h_salt
            :: else
            fi;
            assert(PROVE == 1 || !agreed || (g_number == n_number && g_salt == n_salt));
            h_number = 0;
            h_salt = 0
        }
    :: restored < RESTORED ->
        atomic {
            restored++;
#if RULES == 20
            if
            :: clock = 1
            :: clock < NUMBERS - 4 -> clock++
            :: skip
            fi;
#endif
            if
            :: g_number = b_number; offers = b_offers
            :: skip /* of the record that it has */
            fi;
#if RULES == 21 && WITHOUT != 4
            if
            :: offers -> begin_epoch(g_number - 1) /* as far as the node is known to be */
            :: else -> begin_epoch(g_number)
            fi
#else
            begin_epoch(g_number)
#endif
        }
    :: offers -> atomic { offer(); answer = 0 } /* the answer is lost */
    :: offers -> atomic { offer(); answered(); answer = 0 }
    :: offers -> /* nothing is lost for a while: then both agree */
        atomic {
            tries = 0;
            do
            :: offers && tries < 3 -> offer(); answered(); tries++
            :: else -> break
            od;
            tries = 0;
            answer = 0;
            assert(PROVE == 1 || (agreed && g_number == n_number && g_salt == n_salt))
        }
    :: restored == RESTORED && !offers -> break
    od
}
