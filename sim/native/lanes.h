// Vectors of eight runs: lane r of every vector belongs to the same run, and lanes never mix.
//
// These are the vector extensions that g++ and clang++ share. The compiler makes of a vector what the processor has (one
// register of AVX-512, two of AVX2, four of NEON or SSE2), and rounds each lane alike.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__AVX512F__) || defined(__AVX2__)
#include <immintrin.h>
#endif

#define FEDPROOF_INLINE inline __attribute__((always_inline))

constexpr int kLanes = 8;

typedef double Doubles __attribute__((vector_size(8 * kLanes)));
typedef uint64_t Words __attribute__((vector_size(8 * kLanes)));
typedef int64_t Masks __attribute__((vector_size(8 * kLanes)));  // of a comparison: all bits of a lane, or none
typedef int8_t Flags __attribute__((vector_size(kLanes)));       // a mask in one byte a lane

// The same number in all lanes. Not 0 + value, which a compiler has to compute: it is 0 where the value is -0.
FEDPROOF_INLINE Doubles all(double value) { return Doubles{value, value, value, value, value, value, value, value}; }

FEDPROOF_INLINE bool any(Masks mask) {
  int64_t found = 0;
  for (int r = 0; r < kLanes; r++) found |= mask[r];
  return found != 0;
}

// a b + c, rounded once where the processor has an instruction for it. Sources are compiled with -ffp-contract=off, so
// only what is written so is fused: left to itself, the compiler may fuse other operations in one lane than in another.
FEDPROOF_INLINE Doubles fused(Doubles a, Doubles b, Doubles c) {
#if defined(__AVX512F__)
  return (Doubles)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif defined(__AVX2__) && defined(__FMA__)
  __m256d x[2], y[2], z[2];
  std::memcpy(x, &a, sizeof x);
  std::memcpy(y, &b, sizeof y);
  std::memcpy(z, &c, sizeof z);
  for (int half = 0; half < 2; half++) z[half] = _mm256_fmadd_pd(x[half], y[half], z[half]);
  std::memcpy(&c, z, sizeof z);
  return c;
#elif defined(__FP_FAST_FMA)
  for (int r = 0; r < kLanes; r++) c[r] = __builtin_fma(a[r], b[r], c[r]);
  return c;
#else
  return a * b + c;
#endif
}

FEDPROOF_INLINE Doubles fused(Doubles a, double b, Doubles c) { return fused(a, all(b), c); }

// a > b ? a : b, which is b where either is nan. Compilers take two instructions for it.
FEDPROOF_INLINE Doubles larger(Doubles a, Doubles b) {
#if defined(__AVX512F__)
  return (Doubles)_mm512_max_pd((__m512d)a, (__m512d)b);
#else
  return a > b ? a : b;
#endif
}

// The numbers at eight addresses, `stride` numbers apart from each other by `index`. An initialiser, not a loop over the
// lanes: of a loop the compiler makes half vectors, stores them and reads them back as a whole, which stalls.
FEDPROOF_INLINE Doubles gather(const double* from, const int64_t* index, int64_t stride) {
  return Doubles{from[index[0] * stride], from[index[1] * stride], from[index[2] * stride], from[index[3] * stride],
                 from[index[4] * stride], from[index[5] * stride], from[index[6] * stride], from[index[7] * stride]};
}

// The first W numbers of eight rows, `stride` numbers apart from each other by `index`: coordinate by coordinate. Two
// neighbours are loaded at once, for which a processor with vectors this long takes half of the instructions.
template <int W>
FEDPROOF_INLINE void gather_rows(const double* from, const int64_t* index, int64_t stride, Doubles* out) {
  int i = 0;
#if defined(__AVX512F__)
  for (; i + 1 < W; i += 2) {
    const auto two = [&](int r) __attribute__((always_inline)) {
      return _mm_castpd_ps(_mm_loadu_pd(from + index[r] * stride + i));
    };
    __m512 even = _mm512_castps128_ps512(two(0)), odd = _mm512_castps128_ps512(two(1));
    even = _mm512_insertf32x4(even, two(2), 1), odd = _mm512_insertf32x4(odd, two(3), 1);
    even = _mm512_insertf32x4(even, two(4), 2), odd = _mm512_insertf32x4(odd, two(5), 2);
    even = _mm512_insertf32x4(even, two(6), 3), odd = _mm512_insertf32x4(odd, two(7), 3);
    out[i] = (Doubles)_mm512_unpacklo_pd(_mm512_castps_pd(even), _mm512_castps_pd(odd));
    out[i + 1] = (Doubles)_mm512_unpackhi_pd(_mm512_castps_pd(even), _mm512_castps_pd(odd));
  }
#endif
  for (; i < W; i++) out[i] = gather(from + i, index, stride);
}
