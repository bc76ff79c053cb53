// exp(x) for x <= 0 in eight lanes, and what it is made of.
#pragma once

#include "lanes.h"

FEDPROOF_INLINE Doubles bits(Words value) { return (Doubles)value; }
FEDPROOF_INLINE Doubles masked(Doubles value, Masks mask) { return (Doubles)((Masks)value & mask); }
FEDPROOF_INLINE Doubles magnitude(Doubles x) { return bits((Words)x & 0x7FFFFFFFFFFFFFFFull); }

// x[m] becomes exp(x[m]), to 1 ulp; below -708 it is exp(-708); nan stays. x = n log 2 + r with |r| <= log(2)/2; the
// Taylor polynomial of degree 13 has a relative error below 5e-18. Each operation is done for all M before the next:
// written one after another, so many would wait for each other that the processor could not keep them all.
template <int M>
FEDPROOF_INLINE void exponentials(Doubles* x) {
  const double shift = 6755399441055744.0 + 1023;  // 1.5 2^52: the sum's lowest bits are the rounded integer, plus 1023
  const double inverse_factorials[] = {1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320,
                                       1.0 / 5040,      1.0 / 720,      1.0 / 120,     1.0 / 24,     1.0 / 6,
                                       0.5,             1.0,            1.0};
  Doubles shifted[M], n[M], p[M];
  for (int m = 0; m < M; m++) x[m] = larger(all(-708.0), x[m]);
  for (int m = 0; m < M; m++) shifted[m] = fused(x[m], 1.4426950408889634, all(shift));
  for (int m = 0; m < M; m++) n[m] = shifted[m] - shift;
  for (int m = 0; m < M; m++) x[m] = fused(n[m], -6.93147180369123816490e-01, x[m]);
  for (int m = 0; m < M; m++) x[m] = fused(n[m], -1.90821492927058770002e-10, x[m]);
  for (int m = 0; m < M; m++) p[m] = all(1.0 / 6227020800);
  for (const double one : inverse_factorials)
    for (int m = 0; m < M; m++) p[m] = fused(p[m], x[m], all(one));
  for (int m = 0; m < M; m++) x[m] = p[m] * bits((Words)shifted[m] << 52);
}

FEDPROOF_INLINE Doubles exponential(Doubles x) {
  exponentials<1>(&x);
  return x;
}
