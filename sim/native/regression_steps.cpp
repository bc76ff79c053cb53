// Local steps of softmax and logistic regression; called by sim/kernels/regression_native.py.
//
// Shapes: N clients, n samples each, F features, C classes (1: logistic regression, with labels -1 and 1), S slots, R
// runs, d = C F coordinates, K local steps, B samples of a minibatch.
//
// A lane is a pair of a slot and a run: eight pairs at a time go through all local steps of a round. Nothing is computed
// for runs that are not wanted. What a pair reads of its client's data are rows of its own, which are transposed into
// vectors; sums are over features and over samples, in their order, never over lanes.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <new>
#include <vector>

#include "blocks.h"
#include "exponential.h"
#include "lanes.h"
#include "philox.h"

// Mirrored field by field in sim/kernels/regression_native.py, as is Round.
struct Task {
  const double* features;  // (N, n, F)
  const int64_t* labels;   // (N, n)
  int64_t samples, inputs, classes;
  double ridge;
  int64_t slots, width, live;  // S, R, and how many of the runs are wanted, the first ones
  uint64_t key[2], first_run;
};

struct Round {
  int64_t round;
  const int64_t* chosen;  // (S, R) the clients in the slots; null when each has its own
  int64_t steps, batch;   // K, B
  double scale, decay, radius;
  const double *shift, *ahead;            // (S, d, R), or (d, R) for all slots; null for 0
  int64_t shift_of_slots, ahead_of_slots;  // whether it is the first
  double* models;         // (S, d, R), in and out
};

namespace {

// Numbers of sums that are computed at once, as the registers allow: classes, and samples or features.
#if defined(__AVX512F__)
constexpr int kClasses = 5, kColumns = 4;
#else
constexpr int kClasses = 2, kColumns = 4;
#endif
constexpr int kExponentials = 4;
constexpr int64_t kTile = 256;  // vectors of features that are read at once: they fit the first-level cache
constexpr int64_t kWords = 4;   // of a Philox block

typedef double Unaligned __attribute__((vector_size(8 * kLanes), aligned(8), may_alias));

FEDPROOF_INLINE Doubles load(const double* from) { return *(const Unaligned*)from; }
FEDPROOF_INLINE void store(double* to, Doubles value) { *(Unaligned*)to = value; }

FEDPROOF_INLINE Masks at_rows(const int64_t* from, const int64_t* row) {
  return Masks{from[row[0]], from[row[1]], from[row[2]], from[row[3]],
               from[row[4]], from[row[5]], from[row[6]], from[row[7]]};
}

// to[i] = the numbers i of eight rows, for i < 8.
FEDPROOF_INLINE void transpose(const double* const* rows, int64_t at, Doubles* to) {
#if defined(__clang__) || __GNUC__ >= 12
  Doubles a[8], b[8];
  for (int i = 0; i < 8; i++) a[i] = load(rows[i] + at);
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

// z[j C + c] = sum_i w[c F + i] x[j F + i] for M classes and J samples.
template <int M, int J>
FEDPROOF_INLINE void logits(int64_t F, int64_t C, const Doubles* w, const Doubles* x, Doubles* z) {
  Doubles sum[M][J];
  for (int c = 0; c < M; c++)
    for (int j = 0; j < J; j++) sum[c][j] = Doubles{};
  for (int64_t i = 0; i < F; i++) {
    for (int c = 0; c < M; c++) {
      const Doubles own = w[c * F + i];
      for (int j = 0; j < J; j++) sum[c][j] = fused(own, x[j * F + i], sum[c][j]);
    }
  }
  for (int c = 0; c < M; c++)
    for (int j = 0; j < J; j++) z[j * C + c] = sum[c][j];
}

// g[c F + i] += sum_j z[j C + c] x[j F + i] for M classes and I features, over all samples of a tile.
template <int M, int I>
FEDPROOF_INLINE void add_up(int64_t F, int64_t C, int64_t samples, const Doubles* z, const Doubles* x, Doubles* g) {
  Doubles sum[M][I];
  for (int c = 0; c < M; c++)
    for (int i = 0; i < I; i++) sum[c][i] = g[c * F + i];
  for (int64_t j = 0; j < samples; j++) {
    for (int c = 0; c < M; c++) {
      const Doubles own = z[j * C + c];
      for (int i = 0; i < I; i++) sum[c][i] = fused(own, x[j * F + i], sum[c][i]);
    }
  }
  for (int c = 0; c < M; c++)
    for (int i = 0; i < I; i++) g[c * F + i] = sum[c][i];
}

// z (count, C) becomes softmax(z) - e_y for the labels at these rows. One operation after another for all samples: no
// exponential waits for another.
FEDPROOF_INLINE void softmax_errors(int64_t C, int64_t count, const int64_t* labels, const int64_t* rows, Doubles* z,
                                    Doubles* scale) {
  for (int64_t j = 0; j < count; j++) {
    Doubles top = z[j * C];
    for (int64_t c = 1; c < C; c++) top = larger(z[j * C + c], top);
    for (int64_t c = 0; c < C; c++) z[j * C + c] -= top;
  }
  int64_t i = 0;
  for (; i + kExponentials <= count * C; i += kExponentials) exponentials<kExponentials>(z + i);
  for (; i < count * C; i++) z[i] = exponential(z[i]);
  for (int64_t j = 0; j < count; j++) {
    Doubles total = z[j * C];
    for (int64_t c = 1; c < C; c++) total += z[j * C + c];
    scale[j] = 1.0 / total;
  }
  for (int64_t j = 0; j < count; j++) {
    const Masks y = at_rows(labels, rows + j * kLanes);
    for (int64_t c = 0; c < C; c++) z[j * C + c] = fused(z[j * C + c], scale[j], masked(all(-1.0), y == c));
  }
}

// z (count) becomes -y / (1 + exp(y z)), y = -1 or 1.
FEDPROOF_INLINE void logistic_errors(int64_t count, const int64_t* labels, const int64_t* rows, Doubles* z) {
  for (int64_t j = 0; j < count; j++) {
    const Doubles y = __builtin_convertvector(at_rows(labels, rows + j * kLanes), Doubles);
    const Doubles u = y * z[j], e = exponential(-magnitude(u));
    z[j] = -y * (u >= all(0.0) ? e : all(1.0)) / (1.0 + e);
  }
}

// Eight pairs on their way through the local steps of a round.
class Pairs {
 public:
  Pairs(const Task& task, const Round& round)
      : task_(task), round_(round), inputs_(task.inputs), classes_(task.classes), dim_(inputs_ * classes_),
        tiles_(round.batch, kTile / inputs_ > kColumns ? kTile / inputs_ : kColumns), by_class_(classes_, kClasses),
        by_input_(inputs_, kColumns), draws_(round.steps * round.batch),
        rows_((draws_ + kWords - 1) / kWords * kWords * kLanes), w_(dim_), point_(dim_), g_(dim_),
        shift_(round.shift ? dim_ : 0), ahead_(round.ahead ? dim_ : 0), x_((tiles_.least + 1) * inputs_),
        z_((tiles_.least + 1) * classes_),
        scale_(tiles_.least + 1) {}

  void run(int64_t group) {
    settle(group);
    draw();
    read(round_.models, true, w_);
    if (round_.shift) read(round_.shift, round_.shift_of_slots, shift_);
    if (round_.ahead) read(round_.ahead, round_.ahead_of_slots, ahead_);
    for (int64_t m = 0; m < round_.steps; m++) step(m);
    write();
  }

 private:
  // Who is in the lanes; those beyond the last pair are the last one once more.
  void settle(int64_t group) {
    const int64_t pairs = task_.slots * task_.live;
    number_ = 0;
    for (int r = 0; r < kLanes; r++) {
      int64_t pair = group * kLanes + r;
      if (pair < pairs)
        number_++;
      else
        pair = pairs - 1;
      slot_[r] = pair / task_.live;
      run_[r] = pair % task_.live;
      client_[r] = round_.chosen ? round_.chosen[slot_[r] * task_.width + run_[r]] : slot_[r];
    }
    together_ = slot_[0] == slot_[kLanes - 1] && run_[kLanes - 1] == run_[0] + kLanes - 1;
  }

  // Where the samples are, (K B) times eight, by the contract in sim/streams.py.
  void draw() {
    Words run, client, first;
    for (int r = 0; r < kLanes; r++) {
      run[r] = task_.first_run + run_[r];
      client[r] = client_[r];
      first[r] = client_[r] * task_.samples;
    }
    for (int64_t j = 0; j < draws_; j += kWords) {
      const Draws drawn = philox(run, client, everywhere(round_.round), everywhere(kSampling + j / kWords),
                                 {task_.key[0], task_.key[1]});
      for (int64_t i = 0; i < kWords; i++) {
        const Words row = first + (product32(drawn.word[i], everywhere(task_.samples)) >> 32);
        std::memcpy(&rows_[(j + i) * kLanes], &row, sizeof row);
      }
    }
  }

  // The place of a lane's first coordinate in (S, d, R), or in (d, R).
  int64_t place(int r, bool of_slots) const { return (of_slots ? slot_[r] * dim_ * task_.width : 0) + run_[r]; }

  void read(const double* from, bool of_slots, Doubles* to) const {
    if (together_) {
      from += place(0, of_slots);
      for (int64_t i = 0; i < dim_; i++) to[i] = load(from + i * task_.width);
      return;
    }
    int64_t places[kLanes];
    for (int r = 0; r < kLanes; r++) places[r] = place(r, of_slots);
    for (int64_t i = 0; i < dim_; i++) to[i] = gather(from + i * task_.width, places, 1);
  }

  void write() const {
    if (together_) {
      double* const to = round_.models + place(0, true);
      for (int64_t i = 0; i < dim_; i++) store(to + i * task_.width, w_[i]);
      return;
    }
    for (int r = 0; r < number_; r++)
      for (int64_t i = 0; i < dim_; i++) round_.models[place(r, true) + i * task_.width] = w_[i][r];
  }

  void step(int64_t m) {
    for (int64_t i = 0; i < dim_; i++) point_[i] = round_.ahead ? w_[i] - ahead_[i] : w_[i];
    if (round_.radius > 0) {
      gradient(m);
      Doubles square = Doubles{};
      for (int64_t i = 0; i < dim_; i++) square = fused(g_[i], g_[i], square);
      // where all of g is 0, g over the smallest normal number is 0 too
      for (int r = 0; r < kLanes; r++) square[r] = std::sqrt(square[r]);
      const Doubles length = square < all(0x1p-1022) ? all(0x1p-1022) : square;
      for (int64_t i = 0; i < dim_; i++) point_[i] = fused(g_[i] / length, round_.radius, point_[i]);
    }
    gradient(m);
    for (int64_t i = 0; i < dim_; i++) {
      const Doubles kept = round_.decay * w_[i];
      w_[i] = fused(g_[i], -round_.scale, round_.shift ? kept + shift_[i] : kept);
    }
  }

  // g = ridge point + the mean gradient of the losses of minibatch m at the point.
  void gradient(int64_t m) {
    for (int64_t i = 0; i < dim_; i++) g_[i] = Doubles{};
    for (int64_t t = 0; t < tiles_.number; t++) tile(m * round_.batch + tiles_.begin(t), tiles_.size(t));
    for (int64_t i = 0; i < dim_; i++) g_[i] = fused(point_[i], task_.ridge, tiles_.share * g_[i]);
  }

  // g += the gradients of these draws.
  void tile(int64_t first, int64_t count) {
    const int64_t F = inputs_, C = classes_;
    gather_rows(first, count);
    const Blocks by_sample(count, kColumns);
    for (int64_t b = 0; b < by_sample.number; b++) {
      const int64_t j = by_sample.begin(b);
      with_count<kColumns>(by_sample.size(b), [&](auto J) FEDPROOF_LAMBDA {
        for (int64_t a = 0; a < by_class_.number; a++) {
          const int64_t c = by_class_.begin(a);
          with_count<kClasses>(by_class_.size(a), [&](auto M) FEDPROOF_LAMBDA {
            logits<M, J>(F, C, point_ + c * F, x_ + j * F, z_ + j * C + c);
          });
        }
      });
    }
    const int64_t* const rows = &rows_[first * kLanes];
    if (C > 1)
      softmax_errors(C, count, task_.labels, rows, z_, scale_);
    else
      logistic_errors(count, task_.labels, rows, z_);
    for (int64_t b = 0; b < by_input_.number; b++) {
      const int64_t i = by_input_.begin(b);
      with_count<kColumns>(by_input_.size(b), [&](auto I) FEDPROOF_LAMBDA {
        for (int64_t a = 0; a < by_class_.number; a++) {
          const int64_t c = by_class_.begin(a);
          with_count<kClasses>(by_class_.size(a), [&](auto M) FEDPROOF_LAMBDA {
            add_up<M, I>(F, C, count, z_ + c, x_ + i, g_ + c * F + i);
          });
        }
      });
    }
  }

  // x[j F + i] = feature i of draw first + j, for all lanes.
  void gather_rows(int64_t first, int64_t count) {
    for (int64_t j = 0; j < count; j++) {
      const int64_t* const row = &rows_[(first + j) * kLanes];
      const double* rows[kLanes];
      for (int r = 0; r < kLanes; r++) rows[r] = task_.features + row[r] * inputs_;
      Doubles* const x = x_ + j * inputs_;
      int64_t i = 0;
      for (; i + kLanes <= inputs_; i += kLanes) transpose(rows, i, x + i);
      for (; i < inputs_; i++)
        x[i] = Doubles{rows[0][i], rows[1][i], rows[2][i], rows[3][i], rows[4][i], rows[5][i], rows[6][i], rows[7][i]};
    }
  }

  const Task& task_;
  const Round& round_;
  const int64_t inputs_, classes_, dim_;
  const Blocks tiles_, by_class_, by_input_;
  const int64_t draws_;
  std::vector<int64_t> rows_;  // of the samples drawn, among those of all clients
  const Vectors w_, point_, g_, shift_, ahead_, x_, z_, scale_;
  int64_t slot_[kLanes], run_[kLanes], client_[kLanes];
  int number_ = 0;         // pairs that are somebody's
  bool together_ = false;  // whether the lanes are neighbouring runs in one slot
};

}  // namespace

// Take the pairs (slot, run), numbered slot * live + run, through the local steps of a round: those of the groups
// first..last-1 of eight. Returns 0, or 1 where there is no memory.
extern "C" int regression_steps(const Task* task, const Round* round, int64_t first, int64_t last) {
  try {
    Pairs pairs(*task, *round);
    for (int64_t group = first; group < last; group++) pairs.run(group);
    return 0;
  } catch (const std::bad_alloc&) {
    return 1;
  }
}
