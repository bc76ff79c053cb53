// Loops in blocks of a size that the compiler knows, and memory for vectors.
#pragma once

#include <cstdint>
#include <new>
#include <utility>

#include "lanes.h"

#define FEDPROOF_LAMBDA __attribute__((always_inline))

// How `count` things are taken: by blocks of at most `most`, whose sizes differ by one at most. (A division here and
// there would take longer than a block.)
struct Blocks {
  int64_t count, number, least, larger;
  double share;  // 1 / count

  Blocks(int64_t things, int64_t most)
      : count(things), number((things + most - 1) / most), least(things / number), larger(things % number),
        share(1.0 / (double)things) {}
  FEDPROOF_INLINE int64_t begin(int64_t b) const { return b * least + (b < larger ? b : larger); }
  FEDPROOF_INLINE int64_t size(int64_t b) const { return least + (b < larger); }
};

// Call function(integral_constant M) for M = count in 1..Most.
template <int Most, class Function>
FEDPROOF_INLINE void with_count(int64_t count, const Function& function) {
  if constexpr (Most > 1) {
    if (count != Most) return with_count<Most - 1>(count, function);
  }
  function(std::integral_constant<int, Most>());
}

// Vectors in memory of their own.
class Vectors {
 public:
  explicit Vectors(int64_t count) : at_(new (std::align_val_t(alignof(Doubles))) Doubles[count]) {}
  ~Vectors() { ::operator delete[](at_, std::align_val_t(alignof(Doubles))); }
  Vectors(const Vectors&) = delete;
  Vectors& operator=(const Vectors&) = delete;
  operator Doubles*() const { return at_; }

 private:
  Doubles* at_;
};
