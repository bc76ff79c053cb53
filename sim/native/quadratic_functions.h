// Quadratics for generated rounds: f_ni(x) = x'Hx/2 - b'x; with FEATURES f_ni(x) = (q'x - y)^2.
#pragma once

#include "program.h"

struct Functions {
  const double *hessian, *linear;              // (N, d, d), (N, d) of f_n
  const double *mean_hessian, *mean_linear;    // (d, d), (d) of f
  const double *minimiser, *optimal;           // (d), (1)
  const double *curvature, *slope;             // rows (N, n, kRow) of features and target; or (N, n, d, d) and (N, n, d)
  int64_t samples;

  Functions(const double* const* arrays, const int64_t* sizes)
      : hessian(arrays[0]), linear(arrays[1]), mean_hessian(arrays[2]), mean_linear(arrays[3]), minimiser(arrays[4]),
        optimal(arrays[5]), curvature(arrays[6]), slope(arrays[7]), samples(sizes[0]) {}

  FEDPROOF_INLINE static Point affine(const double* h, const double* b, const Point& x) {
    Point found;
    for (int i = 0; i < D; i++) {
      Doubles sum = -all(b[i]);
      for (int j = 0; j < D; j++) sum = fused(x.at[j], h[i * D + j], sum);
      found.at[i] = sum;
    }
    return found;
  }

  FEDPROOF_INLINE static Point times(const double* h, const Point& x) {
    Point found;
    for (int i = 0; i < D; i++) {
      Doubles sum = x.at[0] * h[i * D];
      for (int j = 1; j < D; j++) sum = fused(x.at[j], h[i * D + j], sum);
      found.at[i] = sum;
    }
    return found;
  }

  FEDPROOF_INLINE Point gradient(int64_t n, const Point& x) const {
    return affine(hessian + n * D * D, linear + n * D, x);
  }
  FEDPROOF_INLINE Point gradient(const Clients& n, const Point& x) const {
    Point found;
    Doubles h[D], b[D];
    gather_rows<D>(linear, n.at, D, b);
    for (int i = 0; i < D; i++) {
      gather_rows<D>(hessian + i * D, n.at, D * D, h);
      Doubles sum = -b[i];
      for (int j = 0; j < D; j++) sum = fused(x.at[j], h[j], sum);
      found.at[i] = sum;
    }
    return found;
  }
  FEDPROOF_INLINE Point full_gradient(const Point& x) const { return affine(mean_hessian, mean_linear, x); }

  // Samples of one client, or of each lane's own: where the data begin, and which of them from there on.
  struct Place {
    int64_t begin;
    const int64_t* index;
    int64_t own[kLanes];
  };
  FEDPROOF_INLINE Place place(int64_t n, const int64_t* index) const { return {n * samples, index, {}}; }
  FEDPROOF_INLINE Place place(const Clients& n, const int64_t* index) const {
    Place found = {0, nullptr, {}};
    for (int r = 0; r < kLanes; r++) found.own[r] = n.at[r] * samples + index[r];
    return found;
  }
  FEDPROOF_INLINE static const int64_t* which(const Place& at) { return at.index ? at.index : at.own; }

#if FEATURES
  static constexpr int kRow = (D + 2) / 2 * 2;  // q and y, and perhaps one more: no pair lies in two lines
  FEDPROOF_INLINE Point row(const Place& at, Doubles* target) const {
    Doubles read[D + 1];
    gather_rows<D + 1>(curvature + at.begin * kRow, which(at), kRow, read);
    *target = read[D];
    Point q;
    for (int i = 0; i < D; i++) q.at[i] = read[i];
    return q;
  }
  // total + c grad f_ni(x)
  template <class Number, class Who>
  FEDPROOF_INLINE Point plus_sample_gradient(const Point& total, Number c, const Who& n, const int64_t* index,
                                             const Point& x) const {
    Doubles y;
    const Point q = row(place(n, index), &y);
    return plus_scaled(total, q, (dot(q, x) - y) * (2.0 * c));
  }
  // total + c (grad f_ni(a) - grad f_ni(b))
  template <class Number, class Who>
  FEDPROOF_INLINE Point plus_sample_difference(const Point& total, Number c, const Who& n, const int64_t* index,
                                               const Point& a, const Point& b) const {
    Doubles y;
    const Point q = row(place(n, index), &y);
    return plus_scaled(total, q, dot(q, minus(a, b)) * (2.0 * c));
  }
#else
  FEDPROOF_INLINE Point product_of(const Place& at, const Point& x) const {
    const double* from = curvature + at.begin * D * D;
    const int64_t* index = which(at);
    Point found;
    for (int i = 0; i < D; i++) {
      Doubles sum = {};
      for (int j = 0; j < D; j++) sum = fused(gather(from + i * D + j, index, D * D), x.at[j], sum);
      found.at[i] = sum;
    }
    return found;
  }
  // total + c grad f_ni(x)
  template <class Number, class Who>
  FEDPROOF_INLINE Point plus_sample_gradient(const Point& total, Number c, const Who& n, const int64_t* index,
                                             const Point& x) const {
    const Place at = place(n, index);
    Point found = product_of(at, x);
    for (int i = 0; i < D; i++) found.at[i] -= gather(slope + at.begin * D + i, which(at), D);
    return plus_scaled(total, found, c);
  }
  // total + c (grad f_ni(a) - grad f_ni(b))
  template <class Number, class Who>
  FEDPROOF_INLINE Point plus_sample_difference(const Point& total, Number c, const Who& n, const int64_t* index,
                                               const Point& a, const Point& b) const {
    return plus_scaled(total, product_of(place(n, index), minus(a, b)), c);
  }
#endif

  // total + c times the mean of grad f_ni(x) over b samples: index[8 j + r] is number j of lane r
  template <class Number, class Who>
  FEDPROOF_INLINE Point plus_batch_gradient(const Point& total, Number c, const Who& n, const int64_t* index, int64_t b,
                                            const Point& x) const {
    Point found = total;
    for (int64_t j = 0; j < b; j++) found = plus_sample_gradient(found, c / (double)b, n, index + j * kLanes, x);
    return found;
  }

  // (H_n + weight I)^-1 (b_n + weight v)
  FEDPROOF_INLINE Point prox(int64_t n, const double* inverse, double weight, const Point& v) const {
    Point right;
    for (int i = 0; i < D; i++) right.at[i] = fused(v.at[i], weight, all(linear[n * D + i]));
    return times(inverse + n * D * D, right);
  }

  FEDPROOF_INLINE Point gap(const Point& x) const {
    Point found;
    for (int i = 0; i < D; i++) found.at[i] = x.at[i] - minimiser[i];
    return found;
  }
  FEDPROOF_INLINE Doubles suboptimality(const Point& x) const {  // (x - x*)'H(x - x*)/2 keeps its digits near x*
    const Point away = gap(x);
    return dot(times(mean_hessian, away), away) * 0.5;
  }
  FEDPROOF_INLINE Doubles cost(const Point& x) const { return suboptimality(x) + optimal[0]; }
  FEDPROOF_INLINE Doubles squared_gradient_norm(const Point& x) const {
    const Point slope_ = full_gradient(x);
    return dot(slope_, slope_);
  }
  FEDPROOF_INLINE Doubles squared_distance(const Point& x) const {
    const Point away = gap(x);
    return dot(away, away);
  }
};
