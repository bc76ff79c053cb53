// Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC 2011) on eight counters at once: the draws of sim/streams.py.
#pragma once

#include <cstdint>
#include <cstring>

#include "lanes.h"

struct Key {
  uint64_t low, high;
};

// Four words a lane, each below 2^32.
struct Draws {
  Words word[4];
};

FEDPROOF_INLINE Words everywhere(uint64_t value) { return Words{} + value; }

// The products of the lower 32 bits; the upper bits of either factor do not matter. Compilers do not find the
// instruction for it, and the general product of 64 bits takes three times as long.
FEDPROOF_INLINE Words product32(Words a, Words b) {
#if defined(__AVX512F__)
  return (Words)_mm512_mul_epu32((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
  typedef uint64_t Half __attribute__((vector_size(32)));
  struct Halves {
    Half low, high;
  };
  Halves x, y;
  std::memcpy(&x, &a, sizeof x);
  std::memcpy(&y, &b, sizeof y);
  x.low = (Half)_mm256_mul_epu32((__m256i)x.low, (__m256i)y.low);
  x.high = (Half)_mm256_mul_epu32((__m256i)x.high, (__m256i)y.high);
  std::memcpy(&a, &x, sizeof a);
  return a;
#else
  const uint64_t mask = 0xFFFFFFFFull;
  return (a & mask) * (b & mask);
#endif
}

// The keys of the ten rounds, made once: from memory an instruction takes them as they are, for all lanes.
struct Keys {
  uint64_t low[10], high[10];

  explicit Keys(Key key) {
    for (int i = 0; i < 10; i++) {
      low[i] = (key.low + i * 0x9E3779B9ull) & 0xFFFFFFFFull;
      high[i] = (key.high + i * 0xBB67AE85ull) & 0xFFFFFFFFull;
    }
  }
};

// The upper 32 bits of each lane, with anything above them. Shuffles and products are done by different parts of the
// processor, shifts and products by the same.
FEDPROOF_INLINE Words upper(Words a) {
#if defined(__AVX512F__)
  return (Words)_mm512_shuffle_epi32((__m512i)a, (_MM_PERM_ENUM)0xF5);
#else
  return a >> 32;
#endif
}

FEDPROOF_INLINE Draws philox(Words c0, Words c1, Words c2, Words c3, const Keys& keys) {
  const Words m0 = everywhere(0xD2511F53ull), m1 = everywhere(0xCD9E8D57ull);
  for (int i = 0; i < 10; i++) {
    const Words p0 = product32(c0, m0), p1 = product32(c2, m1);
    c0 = upper(p1) ^ c1 ^ keys.low[i];
    c2 = upper(p0) ^ c3 ^ keys.high[i];
    c1 = p1;
    c3 = p0;
  }
  const uint64_t mask = 0xFFFFFFFFull;
  return {{c0 & mask, c1 & mask, c2 & mask, c3 & mask}};
}

// The words of these counters. What is above 32 bits in a factor is ignored by the products, so it is cleared only at
// the end.
FEDPROOF_INLINE Draws philox(Words c0, Words c1, Words c2, Words c3, Key key) {
  const Words m0 = everywhere(0xD2511F53ull), m1 = everywhere(0xCD9E8D57ull);
  for (int i = 0; i < 10; i++) {
    const Words p0 = product32(c0, m0), p1 = product32(c2, m1);
    c0 = (p1 >> 32) ^ c1 ^ key.low;
    c2 = (p0 >> 32) ^ c3 ^ key.high;
    c1 = p1;
    c3 = p0;
    key.low = (key.low + 0x9E3779B9ull) & 0xFFFFFFFFull;
    key.high = (key.high + 0xBB67AE85ull) & 0xFFFFFFFFull;
  }
  const uint64_t mask = 0xFFFFFFFFull;
  return {{c0 & mask, c1 & mask, c2 & mask, c3 & mask}};
}
