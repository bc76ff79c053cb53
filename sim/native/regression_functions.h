// Ridge logistic and softmax regression for generated rounds: CLASSES = 1 (labels -1 and 1), or C (labels 0..C-1).
//
// f_n(x) = ridge/2 |x|^2 + the mean over the client's samples (q, y) of log(1 + exp(-y x'q)), or of
// log sum_c exp(x_c'q) - x_y'q with x row by row. Sums are over features and over samples, in their order, never over
// lanes. Samples are taken some at a time: what a lane reads of its own are transposed into vectors.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "blocks.h"
#include "exponential.h"
#include "program.h"

// of eight rows the numbers at, ..., at + 7: to[i] is number at + i of all
FEDPROOF_INLINE void transpose(const double* const* rows, int64_t at, Doubles* to) {
  typedef double Unaligned __attribute__((vector_size(8 * kLanes), aligned(8), may_alias));
#if defined(__clang__) || __GNUC__ >= 12
  Doubles a[8], b[8];
  for (int i = 0; i < 8; i++) a[i] = *(const Unaligned*)(rows[i] + at);
  for (int i = 0; i < 8; i += 2) {
    b[i] = __builtin_shufflevector(a[i], a[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
    b[i + 1] = __builtin_shufflevector(a[i], a[i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
  }
  for (int i = 0; i < 8; i += 4) {
    for (int j = 0; j < 2; j++) {
      a[i + j] = __builtin_shufflevector(b[i + j], b[i + j + 2], 0, 1, 8, 9, 4, 5, 12, 13);
      a[i + j + 2] = __builtin_shufflevector(b[i + j], b[i + j + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    }
  }
  for (int j = 0; j < 4; j++) {
    to[j] = __builtin_shufflevector(a[j], a[j + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    to[j + 4] = __builtin_shufflevector(a[j], a[j + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
#else
  for (int i = 0; i < 8; i++)
    to[i] = Doubles{rows[0][at + i], rows[1][at + i], rows[2][at + i], rows[3][at + i],
                    rows[4][at + i], rows[5][at + i], rows[6][at + i], rows[7][at + i]};
#endif
}

struct Functions {
  static constexpr int C = CLASSES, F = D / C;  // classes and features
#if defined(__AVX512F__)
  static constexpr int kClasses = C < 5 ? C : 5, kColumns = 4;  // sums that are computed at once
#else
  static constexpr int kClasses = C < 2 ? C : 2, kColumns = 4;
#endif
  static constexpr int kTile = 256 / F > kColumns ? 256 / F : kColumns;  // samples at a time: they stay in the cache

  const double *features, *labels;  // (N, n, F), (N, n)
  const double *minimiser;          // (D)
  double optimal, ridge;            // f*
  int64_t clients, samples;

  Functions(const double* const* arrays, const int64_t* sizes)
      : features(arrays[0]), labels(arrays[1]), minimiser(arrays[2]), optimal(arrays[3][0]), ridge(arrays[3][1]),
        clients(sizes[0]), samples(sizes[1]) {}

  // grad f_n, n one client of all lanes
  __attribute__((noinline)) Point gradient(int64_t n, const Point& x) const {
    return of_mean(Point{}, 1.0, samples, x, Whole_{*this, n});
  }
  __attribute__((noinline)) Point gradient(const Clients& n, const Point& x) const {
    return of_mean(Point{}, 1.0, samples, x, Each{*this, n});
  }
  __attribute__((noinline)) Point full_gradient(const Point& x) const {
    Point found = {};
    for (int64_t n = 0; n < clients; n++) found = of_mean(found, 1.0, samples, x, Whole_{*this, n});
    return divided(found, (double)clients);
  }

  // total + c times the mean of grad f_ni(x) over b samples: index[8 j + r] is number j of lane r
  template <class Number, class Who>
  __attribute__((noinline)) Point plus_batch_gradient(const Point& total, Number c, const Who& n, const int64_t* index,
                                                      int64_t b, const Point& x) const {
    return of_mean(total, c, b, x, Picked<Who>{*this, n, index});
  }
  // total + c grad f_ni(x)
  template <class Number, class Who>
  FEDPROOF_INLINE Point plus_sample_gradient(const Point& total, Number c, const Who& n, const int64_t* index,
                                             const Point& x) const {
    return plus_batch_gradient(total, c, n, index, 1, x);
  }
  // total + c (grad f_ni(a) - grad f_ni(b))
  template <class Number, class Who>
  FEDPROOF_INLINE Point plus_sample_difference(const Point& total, Number c, const Who& n, const int64_t* index,
                                               const Point& a, const Point& b) const {
    return plus_scaled(total, minus(plus_sample_gradient(Point{}, 1.0, n, index, a),
                                    plus_sample_gradient(Point{}, 1.0, n, index, b)), c);
  }

  __attribute__((noinline)) Doubles cost(const Point& x) const {
    Doubles total = {};
    for (int64_t n = 0; n < clients; n++) total += mean_loss(n, x);
    return fused(dot(x, x), ridge / 2, total / (double)clients);
  }
  FEDPROOF_INLINE Doubles suboptimality(const Point& x) const { return cost(x) - optimal; }
  FEDPROOF_INLINE Doubles squared_gradient_norm(const Point& x) const {
    const Point slope = full_gradient(x);
    return dot(slope, slope);
  }
  FEDPROOF_INLINE Doubles squared_distance(const Point& x) const {
    Point away;
    FEDPROOF_EACH away.at[i] = x.at[i] - minimiser[i];
    return dot(away, away);
  }

 private:
  // Where samples come from: `read` puts number j into vectors q[0..F-1] and gives its labels.
  struct Whole_ {
    const Functions& of;
    int64_t n;
    FEDPROOF_INLINE Doubles read(int64_t j, Doubles* q) const {
      const double* from = of.features + (n * of.samples + j) * F;
      for (int i = 0; i < F; i++) q[i] = all(from[i]);
      return all(of.labels[n * of.samples + j]);
    }
  };
  struct Each {
    const Functions& of;
    const Clients& n;
    FEDPROOF_INLINE Doubles read(int64_t j, Doubles* q) const {
      int64_t row[kLanes];
      for (int r = 0; r < kLanes; r++) row[r] = n.at[r] * of.samples + j;
      return of.rows(row, q);
    }
  };
  template <class Who>
  struct Picked {
    const Functions& of;
    const Who& n;
    const int64_t* index;
    FEDPROOF_INLINE Doubles read(int64_t j, Doubles* q) const {
      int64_t row[kLanes];
      for (int r = 0; r < kLanes; r++) row[r] = first(r) * of.samples + index[j * kLanes + r];
      return of.rows(row, q);
    }
    FEDPROOF_INLINE int64_t first(int r) const {
      if constexpr (std::is_same_v<Who, Clients>)
        return n.at[r];
      else
        return n;
    }
  };

  FEDPROOF_INLINE Doubles rows(const int64_t* row, Doubles* q) const {
    const double* from[kLanes];
    for (int r = 0; r < kLanes; r++) from[r] = features + row[r] * F;
    int i = 0;
    for (; i + kLanes <= F; i += kLanes) transpose(from, i, q + i);
    for (; i < F; i++)
      q[i] = Doubles{from[0][i], from[1][i], from[2][i], from[3][i], from[4][i], from[5][i], from[6][i], from[7][i]};
    return gather(labels, row, 1);
  }

  // total + c (ridge x + the mean of the gradients of so many samples' losses)
  template <class Number, class From>
  FEDPROOF_INLINE Point of_mean(const Point& total, Number c, int64_t count, const Point& x, const From& from) const {
    Point g = {};
    const Blocks tiles(count, kTile);
    for (int64_t t = 0; t < tiles.number; t++) tile(tiles.begin(t), tiles.size(t), x, from, g);
    Point found;
    FEDPROOF_EACH found.at[i] = fused(fused(x.at[i], ridge, g.at[i] * tiles.share), c, total.at[i]);
    return found;
  }

  // g += the gradients of samples first, first + 1, ..., first + count - 1
  template <class From>
  FEDPROOF_INLINE void tile(int64_t first, int64_t count, const Point& x, const From& from, Point& g) const {
    Doubles q[kTile * F], z[kTile * C], y[kTile];
    for (int64_t j = 0; j < count; j++) y[j] = from.read(first + j, q + j * F);
    for_blocks<kColumns>(count, [&](int64_t j, auto J) FEDPROOF_LAMBDA {
      for_blocks<kClasses>(C, [&](int64_t k, auto M) FEDPROOF_LAMBDA { logits<M, J>(x.at + k * F, q + j * F, z + j * C + k); });
    });
    errors(count, y, z);
    for_blocks<kColumns>(F, [&](int64_t i, auto I) FEDPROOF_LAMBDA {
      for_blocks<kClasses>(C, [&](int64_t k, auto M) FEDPROOF_LAMBDA {
        add_up<M, I>(count, z + k, q + i, g.at + k * F + i);
      });
    });
  }

  // function(begin, integral_constant size) for blocks of at most Most
  template <int Most, class Function>
  FEDPROOF_INLINE static void for_blocks(int64_t count, const Function& function) {
    const Blocks blocks(count, Most);
    for (int64_t b = 0; b < blocks.number; b++) {
      const int64_t begin = blocks.begin(b);
      with_count<Most>(blocks.size(b), [&](auto M) FEDPROOF_LAMBDA { function(begin, M); });
    }
  }

  // z[j C + c] = sum_i w[c F + i] q[j F + i] for M classes and J samples
  template <int M, int J>
  FEDPROOF_INLINE static void logits(const Doubles* w, const Doubles* q, Doubles* z) {
    Doubles sum[M][J];
    for (int c = 0; c < M; c++)
      for (int j = 0; j < J; j++) sum[c][j] = Doubles{};
    for (int i = 0; i < F; i++) {
      for (int c = 0; c < M; c++) {
        const Doubles own = w[c * F + i];
        for (int j = 0; j < J; j++) sum[c][j] = fused(own, q[j * F + i], sum[c][j]);
      }
    }
    for (int c = 0; c < M; c++)
      for (int j = 0; j < J; j++) z[j * C + c] = sum[c][j];
  }

  // g[c F + i] += sum_j z[j C + c] q[j F + i] for M classes and I features, over all samples of a tile
  template <int M, int I>
  FEDPROOF_INLINE static void add_up(int64_t count, const Doubles* z, const Doubles* q, Doubles* g) {
    Doubles sum[M][I];
    for (int c = 0; c < M; c++)
      for (int i = 0; i < I; i++) sum[c][i] = g[c * F + i];
    for (int64_t j = 0; j < count; j++) {
      for (int c = 0; c < M; c++) {
        const Doubles own = z[j * C + c];
        for (int i = 0; i < I; i++) sum[c][i] = fused(own, q[j * F + i], sum[c][i]);
      }
    }
    for (int c = 0; c < M; c++)
      for (int i = 0; i < I; i++) g[c * F + i] = sum[c][i];
  }

  // many at once: no exponential waits for another
  FEDPROOF_INLINE static void exponentials_of(int64_t count, Doubles* z) {
    int64_t i = 0;
    for (; i + 4 <= count; i += 4) exponentials<4>(z + i);
    for (; i < count; i++) exponentials<1>(z + i);
  }

  FEDPROOF_INLINE static Doubles largest_of(const Doubles* z) {
    Doubles top = z[0];
    for (int c = 1; c < C; c++) top = larger(z[c], top);
    return top;
  }

  // Logits z (count, C) become the slopes of the losses in them: softmax(z) - e_y, or -y/(1 + exp(y z)).
  FEDPROOF_INLINE static void errors(int64_t count, const Doubles* y, Doubles* z) {
    if constexpr (C == 1) {
      Doubles e[kTile];
      for (int64_t j = 0; j < count; j++) e[j] = -magnitude(z[j]);
      exponentials_of(count, e);
      for (int64_t j = 0; j < count; j++) z[j] = -y[j] * (y[j] * z[j] >= all(0.0) ? e[j] : all(1.0)) / (1.0 + e[j]);
    } else {
      for (int64_t j = 0; j < count; j++) {
        const Doubles top = largest_of(z + j * C);
        for (int c = 0; c < C; c++) z[j * C + c] -= top;
      }
      exponentials_of(count * C, z);
      for (int64_t j = 0; j < count; j++) {
        Doubles total = z[j * C];
        for (int c = 1; c < C; c++) total += z[j * C + c];
        const Doubles scale = 1.0 / total;
        for (int c = 0; c < C; c++)
          z[j * C + c] = fused(z[j * C + c], scale, masked(all(-1.0), (Masks)(y[j] == all(c))));
      }
    }
  }

  // the mean of client n's losses at x, without the ridge
  FEDPROOF_INLINE Doubles mean_loss(int64_t n, const Point& x) const {
    const Whole_ from{*this, n};
    Doubles q[F], z[C], total = {};
    for (int64_t j = 0; j < samples; j++) {
      const Doubles y = from.read(j, q);
      for (int c = 0; c < C; c++) logits<1, 1>(x.at + c * F, q, z + c);
      if constexpr (C == 1) {
        const Doubles u = y * z[0];
        Doubles e = -magnitude(u);
        exponentials<1>(&e);
        total += larger(-u, all(0.0)) + lane_by_lane<std::log1p>(e);
      } else {
        const Doubles top = largest_of(z);
        Doubles own = {}, sum = {};
        for (int c = 0; c < C; c++) {
          z[c] -= top;
          own += masked(z[c], (Masks)(y == all(c)));
        }
        exponentials_of(C, z);
        for (int c = 0; c < C; c++) sum += z[c];
        total += lane_by_lane<std::log>(sum) - own;
      }
    }
    return total / (double)samples;
  }
};
