// The library itself: a class as in Arduino libraries. It does not depend on motecrypt.
#ifndef BLOCK_AES_H
#define BLOCK_AES_H

#include <Arduino.h>

class BlockAes {
  public:
    bool begin(const byte *key, int bits);
    void encrypt(byte *block) const;
    void decrypt(byte *block) const;

  private:
    void add(byte *block, int round) const;
    static void substitute(byte *block, const byte *table, int way);
    static void mix(byte *block, byte a, byte b, byte c, byte d);

    byte schedule[240];
    int rounds;
};

#endif
