// Ridge logistic and softmax regression for an open population: CLASSES = 1 (labels -1 and 1), or C (labels 0..C-1).
//
// f_n(x) = ridge/2 |x|^2 + the mean over the client's samples (q, y) of log(1 + exp(-y x'q)), or of
// log sum_c exp(x_c'q) - x_y'q with x row by row. Sums over features are in eight lanes, whose sums come last.
#pragma once

#include "along.h"
#include "blocks.h"

namespace along {

// The sum of a vector's lanes, for eight vectors: lanes l and l+4, then l+2, then l+1.
FEDPROOF_INLINE Eight sums(const Eight* v) {
#if defined(__clang__) || __GNUC__ >= 12
  Eight a[4], b[2];
  for (int i = 0; i < 4; i++)
    a[i] = __builtin_shufflevector(v[2 * i], v[2 * i + 1], 0, 1, 2, 3, 8, 9, 10, 11) +
           __builtin_shufflevector(v[2 * i], v[2 * i + 1], 4, 5, 6, 7, 12, 13, 14, 15);
  for (int i = 0; i < 2; i++)
    b[i] = __builtin_shufflevector(a[2 * i], a[2 * i + 1], 0, 1, 4, 5, 8, 9, 12, 13) +
           __builtin_shufflevector(a[2 * i], a[2 * i + 1], 2, 3, 6, 7, 10, 11, 14, 15);
  return __builtin_shufflevector(b[0], b[1], 0, 2, 4, 6, 8, 10, 12, 14) +
         __builtin_shufflevector(b[0], b[1], 1, 3, 5, 7, 9, 11, 13, 15);
#else
  Eight found;
  for (int i = 0; i < 8; i++) found[i] = sum_of(v[i]);
  return found;
#endif
}

class Functions {
 public:
  static constexpr int C = CLASSES, F = D / C, W = (F + kWide - 1) / kWide;  // classes, features, vectors of a row
#if defined(__AVX512F__)
  static constexpr int kRows = 8;   // samples whose margins are added up at once, as the registers allow
  static constexpr int kTile = 3;   // models whose margins at eight samples are
#else
  static constexpr int kRows = 4;
  static constexpr int kTile = 1;
#endif
  static constexpr int kPadded = 8;  // kRows, up to whole vectors
  static constexpr int64_t kModels = 16;  // whose losses are computed at once: they fit the first-level cache

  Functions(const double* const* arrays, const int64_t* sizes, int64_t slots)
      : features_(arrays[0]), labels_(arrays[1]), ridge_(arrays[3][1]), samples_(sizes[1]),
        slab_(slots * samples_ * W), clients_(slots, -1), copied_(slots * samples_), rows_(samples_ + kPadded),
        own_(samples_ + kPadded) {}

  // Another run: what lies in the slots is not its clients'.
  void begin() { std::fill(clients_.begin(), clients_.end(), -1); }

  // These samples of a client will be wanted soon.
  FEDPROOF_INLINE void fetch(const Slot& n, const int64_t* index, int64_t count) {
    settle(n);
    for (int64_t j = 0; j < count; j++) {
      if (copied_[n.slot * samples_ + index[j]]) continue;
      const double* const from = features_ + (n.client * samples_ + index[j]) * F;
      for (int64_t i = 0; i < F && i < 2 * kWide; i += kWide) __builtin_prefetch(from + i, 0, 2);
    }
  }

  // total + c times the mean of grad f_ni(x) over b samples
  __attribute__((noinline)) Point plus_batch_gradient(const Point& total, double c, const Slot& n, const int64_t* index,
                                                      int64_t b, const Point& x) {
    if ((int64_t)rows_.size() < b + kPadded) rows_.resize(b + kPadded), own_.resize(b + kPadded);
    settle(n);
    whole_ = -1;
    for (int64_t j = 0; j < b; j++) rows_[j] = row(n, index[j]), own_[j] = labels_[n.client * samples_ + index[j]];
    return of_mean(total, c, b, x);
  }
  FEDPROOF_INLINE Point plus_sample_gradient(const Point& total, double c, const Slot& n, const int64_t* index,
                                             const Point& x) {
    return plus_batch_gradient(total, c, n, index, 1, x);
  }
  // total + c (grad f_ni(a) - grad f_ni(b))
  FEDPROOF_INLINE Point plus_sample_difference(const Point& total, double c, const Slot& n, const int64_t* index,
                                               const Point& a, const Point& b) {
    const Point one = plus_sample_gradient(Point(), 1.0, n, index, a);
    return plus_scaled(total, minus(one, plus_sample_gradient(Point(), 1.0, n, index, b)), c);
  }
  // total + c grad f_n(x)
  __attribute__((noinline)) Point plus_gradient(const Point& total, double c, const Slot& n, const Point& x) {
    settle(n);
    if (whole_ != n.slot)
      for (int64_t j = 0; j < samples_; j++) rows_[j] = row(n, j), own_[j] = labels_[n.client * samples_ + j];
    whole_ = n.slot;
    return of_mean(total, c, samples_, x);
  }
  FEDPROOF_INLINE Point gradient(const Slot& n, const Point& x) { return plus_gradient(Point(), 1.0, n, x); }

  // the mean of the gradients of these clients
  Point mean_gradient(const std::vector<Slot>& who, const Point& x) {
    Point total;
    for (const Slot& n : who) total = plus(total, gradient(n, x));
    return divided(total, (double)who.size());
  }

  // f_n at `count` points x, into to[0], to[stride], ...
  void costs(const Slot& n, const Point* x, int64_t count, double* to, int64_t stride) {
    settle(n);
    whole_ = -1;
    for (int64_t j = 0; j < samples_; j++) own_[j] = labels_[n.client * samples_ + j], row(n, j);
    const Eight* const q = &slab_[n.slot * samples_ * W];
    const int64_t width = (samples_ + kWide - 1) / kWide * kWide;
    margins_.resize(kModels * width);
    for (int64_t i = 0; i < count; i += kModels) {
      const int64_t here = std::min(count - i, kModels);
      if constexpr (C == 1) margins_at(q, x + i, here, width);
      for (int64_t m = i; m < i + here; m++) {
        const double sum = C == 1 ? log_losses(&margins_[(m - i) * width]) : softmax_losses(q, x[m]);
        to[m * stride] = 0.5 * ridge_ * dot(x[m], x[m]) + sum / (double)samples_;
      }
    }
  }

 private:
  // Whose rows are those of the slot.
  FEDPROOF_INLINE void settle(const Slot& n) {
    if (clients_[n.slot] == n.client) return;
    clients_[n.slot] = n.client;
    whole_ = -1;
    std::memset(&copied_[n.slot * samples_], 0, samples_);
  }

  // A sample as whole vectors: copied here once, because a vector that lies in two lines of the cache takes twice as long.
  FEDPROOF_INLINE const Eight* row(const Slot& n, int64_t sample) {
    const int64_t number = n.slot * samples_ + sample;
    Eight* const to = &slab_[number * W];
    if (!copied_[number]) {
      copied_[number] = 1;
      pack(features_ + (n.client * samples_ + sample) * F, to);
    }
    return to;
  }
  FEDPROOF_INLINE static void pack(const double* from, Eight* to) {
    for (int w = 0; w + 1 < W; w++) to[w] = load(from + kWide * w);
    Eight last = {};
    std::memcpy(&last, from + kWide * (W - 1), sizeof(double) * (F - kWide * (W - 1)));
    to[W - 1] = last;
  }

  // total + c (ridge x + the mean of the gradients of the losses of so many samples, which are in rows_ and own_)
  FEDPROOF_INLINE Point of_mean(const Point& total, double c, int64_t count, const Point& x) {
    const Blocks blocks(count, kRows);
    const double scale = c * ridge_;
    if constexpr (C == 1) {
      Point g = plus_scaled(total, x, scale), w = x;
      w.at[V - 1] = masked(w.at[V - 1], lanes_below(kTail));  // what lies beyond may be no number
      logistic(blocks, -c * blocks.share, w.at, g.at);
      return g;
    } else {
      alignas(64) double g[C * F + kWide] = {}, w[C * F + kWide] = {};
      for (int v = 0; v < V; v++) store(w + kWide * v, v + 1 < V ? x.at[v] : masked(x.at[v], lanes_below(kTail)));
      for (int64_t j = 0; j < count; j++) softmax(rows_[j], own_[j], w, g);
      const double share = c * blocks.share;
      return FEDPROOF_POINT(fused(load(g + kWide * v), Eight{} + share, fused(x.at[v], Eight{} + scale, total.at[v])));
    }
  }

  // g += scale times the sum of y/(1 + exp(y w'q)) q; what an exponential waits for was computed a block before
  FEDPROOF_INLINE void logistic(const Blocks& blocks, double scale, const Eight* w, Eight* g) {
    alignas(64) double z[2][kPadded], c[2][kPadded];
    const auto margins = [&](int64_t b) FEDPROOF_LAMBDA {
      const Eight* const* const x = rows_.data() + blocks.begin(b);
      with_count<kRows>(blocks.size(b), [&](auto m) FEDPROOF_LAMBDA { margins_of<m>(x, w, z[b % 2]); });
    };
    const auto coefficients = [&](int64_t b) FEDPROOF_LAMBDA {
      const double* const own = own_.data() + blocks.begin(b);
      for (int64_t j = 0; j < kPadded; j += kWide) {
        const Eight y = load(own + j), u = y * load(z[b % 2] + j), e = exponential(-magnitude(u));
        store(c[b % 2] + j, scale * y * (u >= all(0.0) ? e : all(1.0)) / (1.0 + e));
      }
    };
    margins(0);
    if (blocks.number > 1) margins(1);
    coefficients(0);
    for (int64_t b = 0; b < blocks.number; b++) {
      if (b + 2 < blocks.number) margins(b + 2);
      if (b + 1 < blocks.number) coefficients(b + 1);
      const Eight* const* const x = rows_.data() + blocks.begin(b);
      with_count<kRows>(blocks.size(b), [&](auto m) FEDPROOF_LAMBDA { add_rows<m>(x, c[b % 2], g); });
    }
  }

  // z_j = rows[j]'w for j < M; zeros up to whole vectors
  template <int M>
  FEDPROOF_INLINE static void margins_of(const Eight* const* rows, const Eight* w, double* z) {
    Eight sum[kPadded];
    const Eight* x[M];
    for (int j = M; j < kPadded; j++) sum[j] = Eight{};
    for (int j = 0; j < M; j++) x[j] = rows[j], sum[j] = x[j][0] * w[0];
    for (int v = 1; v < W; v++)
      for (int j = 0; j < M; j++) sum[j] = fused(x[j][v], w[v], sum[j]);
    for (int j = 0; j < kPadded; j += 8) store(z + j, sums(sum + j));
  }

  // g += sum_j coefficient_j rows[j] over j < M
  template <int M>
  FEDPROOF_INLINE static void add_rows(const Eight* const* rows, const double* coefficient, Eight* g) {
    Eight c[M];
    const Eight* x[M];
    for (int j = 0; j < M; j++) c[j] = all(coefficient[j]), x[j] = rows[j];
    for (int v = 0; v < W; v++) {
      Eight even = c[0] * x[0][v], odd = g[v];
      for (int j = 1; j < M; j += 2) odd = fused(c[j], x[j][v], odd);
      for (int j = 2; j < M; j += 2) even = fused(c[j], x[j][v], even);
      g[v] = even + odd;
    }
  }

  // Logits z (C) become exp(z - max z); gives the maximum and the sum.
  FEDPROOF_INLINE static double exponentials_of(double* z, double& top) {
    constexpr int vectors = (C + kWide - 1) / kWide;
    top = z[0];
    for (int c = 1; c < C; c++) top = z[c] > top ? z[c] : top;
    for (int v = 0; v < vectors; v++) store(z + kWide * v, exponential(load(z + kWide * v) - top));
    double total = 0;
    for (int c = 0; c < C; c++) total += z[c];
    return total;
  }

  FEDPROOF_INLINE static void logits(const Eight* q, const double* w, double* z) {
    for (int c = 0; c < C; c++) {
      Eight sum = {};
      for (int v = 0; v < W; v++) sum = fused(q[v], load(w + c * F + kWide * v), sum);
      z[c] = sum_of(sum);
    }
  }

  // g_c += (softmax(w q)_c - [c = y]) q
  FEDPROOF_INLINE static void softmax(const Eight* q, double y, const double* w, double* g) {
    double z[C + kWide] = {}, top;
    logits(q, w, z);
    const double share = 1.0 / exponentials_of(z, top);
    for (int c = 0; c < C; c++) {
      const Eight error = all(z[c] * share - (y == c ? 1.0 : 0.0));
      for (int v = 0; v < W; v++) {
        double* const at = g + c * F + kWide * v;
        store(at, fused(q[v], error, load(at)));
      }
    }
  }

  // the margins x_m'q_j of some points at all samples q (n, W), into margins_ (points, width); eight samples at a time
  void margins_at(const Eight* q, const Point* x, int64_t count, int64_t width) {
    Eight w[kModels][W];
    for (int64_t m = 0; m < count; m++)
      for (int v = 0; v < W; v++) w[m][v] = v + 1 < W ? x[m].at[v] : masked(x[m].at[v], lanes_below(kTail));
    for (int64_t j = 0; j < samples_; j += kWide) {
      const Eight* rows[kWide];  // beyond the last sample again the last
      for (int64_t i = 0; i < kWide; i++) rows[i] = q + std::min(j + i, samples_ - 1) * W;
      for (int64_t m = 0; m < count; m += kTile)
        with_count<kTile>(std::min<int64_t>(count - m, kTile),
                          [&](auto M) FEDPROOF_LAMBDA { margins_tile<M>(rows, w + m, &margins_[m * width + j], width); });
    }
  }
  template <int M>
  FEDPROOF_INLINE static void margins_tile(const Eight* const* rows, const Eight (*w)[W], double* z, int64_t width) {
    Eight sum[M][kWide] = {};
    for (int v = 0; v < W; v++)
      for (int m = 0; m < M; m++)
        for (int i = 0; i < kWide; i++) sum[m][i] = fused(rows[i][v], w[m][v], sum[m][i]);
    for (int m = 0; m < M; m++) store(z + m * width, sums(sum[m]));
  }

  // sum_j log(1 + exp(-u_j)), u_j = y_j z_j: that of max(-u_j, 0) + log(1 + e_j), e_j = exp(-|u_j|)
  double log_losses(const double* z) const {
    double logs = 0;
    Eight beyond = {};
    for (int64_t begin = 0; begin < samples_; begin += kWide * kFactors) {
      const int64_t end = std::min(samples_, begin + kWide * kFactors);
      Eight p = {};
      for (int64_t j = begin; j < end; j += kWide) {
        const Eight u = load(own_.data() + j) * load(z + j);
        const Masks some = lanes_below(end - j);
        const Eight e = masked(exponential(-magnitude(u)), some);
        beyond += masked(-u, some & (Masks)(u < all(0.0)));
        p = fused(p, e, p + e);
      }
      logs += logarithm_of(p);
    }
    return sum_of(beyond) + logs;
  }

  // sum_j log sum_c exp(x_c'q_j) - x_y'q_j
  double softmax_losses(const Eight* q, const Point& x) const {
    alignas(64) double w[C * F + kWide] = {};
    for (int v = 0; v < V; v++) store(w + kWide * v, v + 1 < V ? x.at[v] : masked(x.at[v], lanes_below(kTail)));
    double total = 0, top;
    for (int64_t j = 0; j < samples_; j++) {
      double z[C + kWide] = {};
      logits(q + j * W, w, z);
      const double own = z[(int)own_[j]], sum = exponentials_of(z, top);
      total += std::log(sum) + top - own;
    }
    return total;
  }

  // Of numbers p = prod (1 + e) - 1 in the lanes the sum of log(1 + p): all terms are positive, so nothing cancels.
  FEDPROOF_INLINE static double logarithm_of(Eight p) {
    double q[kWide];
    store(q, p);
    for (int lanes = kWide / 2; lanes; lanes /= 2)
      for (int i = 0; i < lanes; i++) q[i] = (q[i] + q[i + lanes]) + q[i] * q[i + lanes];
    return std::log1p(q[0]);
  }
  static constexpr int64_t kFactors = 64;  // of at most 2 each, in a lane's product: that of all lanes is far from overflow

  const double *features_, *labels_;  // (N, n, F), (N, n)
  const double ridge_;
  const int64_t samples_;
  struct Slab {
    explicit Slab(int64_t count) : at(static_cast<Eight*>(::operator new[](count * sizeof(Eight), std::align_val_t(64)))) {}
    ~Slab() { ::operator delete[](at, std::align_val_t(64)); }
    Slab(const Slab&) = delete;
    Slab& operator=(const Slab&) = delete;
    FEDPROOF_INLINE Eight& operator[](int64_t i) { return at[i]; }
    Eight* const at;
  } slab_;  // the rows of the clients in the slots
  std::vector<int64_t> clients_;
  std::vector<uint8_t> copied_;
  int64_t whole_ = -1;  // the slot of which all samples are in rows_ and own_, or -1
  std::vector<const Eight*> rows_;
  std::vector<double> own_, margins_;  // labels; (kModels, n)
};

}  // namespace along
