/* epochs.pml: restorations of a gateway's record, and the epochs that they begin.
 *
 * A gateway G offers its node N an epoch after each restoration; offers and answers are lost or arrive. G sends messages
 * once N has confirmed. The clock stops, runs or is set back. RULES is 21 for version 2.1 of the link, 20 for
 * version 2.0; WITHOUT takes one rule of 2.1 away. A salt stands for the random bits of an epoch: each is new, and
 * above or below the ones before. PROVE chooses what is proven: 1, that no epoch's keys are used again; 2, that a node
 * is reached when nothing is lost; 0, both.
 */
#define RESTORED 3
#define NUMBERS 12
#define SALTS 7

byte g_number, g_salt, n_number, n_salt; /* the epochs of both ends */
byte b_number, b_salt;                   /* of the backup */
bool offers, used[NUMBERS * 8];          /* epochs, number and salt, in which G has sent */
bool taken[SALTS + 1];
byte salt, clock = 1, restored, tries, answer;
bool agreed = true;

#define EPOCH (g_number * 8 + g_salt)
#if RULES == 21
#define ABOVE (g_number > n_number || (g_number == n_number && g_salt > n_salt)) /* random bits count, too */
#else
#define ABOVE (g_number > n_number)
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
    :: ABOVE -> n_number = g_number; n_salt = g_salt; answer = 1
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
    :: !offers -> b_number = g_number; b_salt = g_salt /* a backup */
    :: restored < RESTORED ->
        atomic {
            restored++;
            if
            :: clock = 1
            :: clock < NUMBERS - 4 -> clock++
            :: skip
            fi;
            begin_epoch(b_number)
        }
    :: offers -> atomic { offer(); } /* the answer is lost */
    :: offers -> atomic { offer(); answered() }
    :: offers -> /* nothing is lost for a while: then both agree */
        atomic {
            tries = 0;
            do
            :: offers && tries < 3 -> offer(); answered(); tries++
            :: else -> break
            od;
            assert(PROVE == 1 || (agreed && g_number == n_number && g_salt == n_salt))
        }
    :: restored == RESTORED && !offers -> break
    od
}
