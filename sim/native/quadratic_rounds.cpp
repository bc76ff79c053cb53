// Rounds of FedAvg-SVRG and of FedAvg on quadratics; called by sim/kernels/quadratic_native.py.
//
// Compiled for one number of coordinates, DIM, at a time: all loops over coordinates are then unrolled, and a library
// takes 2 s to compile; one with every DIM up to 16 takes half a minute.
//
// A call takes some runs, a block, through a stretch of rounds. In each round, client after client, the runs in which
// it takes part are gathered into vectors of eight: nothing is computed for those that are absent, and the client's
// data stay in the first-level cache. Samples are read number by number, which is faster than gather instructions.

#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "lanes.h"
#include "philox.h"

namespace {

constexpr int kBlock = 256;  // most runs of a block: their models and sums fit the first-level cache at d = 5
constexpr int D = DIM;

enum Empty : int64_t { kKeep, kZero, kCondition };

}  // namespace

// Mirrored field by field in sim/kernels/quadratic_native.py. N clients, n samples (padded), d coordinates, K rounds.
struct Task {
  int64_t clients, samples;
  const int64_t* counts;        // (N) samples of each client
  const double* hessian;        // (N, d, d) of f_n
  const double* linear;         // (N, d)
  const double* curvature;      // features q (N, n, d), where H = 2qq'; or the Hessians (N, n, d, d)
  const double* slope;          // targets y (N, n), where b = 2qy; or b (N, n, d)
  int64_t features;             // whether curvature and slope are features and targets
  int64_t reduces_variance;     // FedAvg-SVRG rather than FedAvg
  int64_t outer, inner;         // snapshots and inner steps; or local steps and samples of a minibatch
  const double* steps;          // (K)
  int64_t size;                 // S of N take part; 0 for Bernoulli
  const uint64_t* thresholds;   // (K or 1, N) present iff the word is below
  const double* scale;          // (K or 1, N) the weights of those present
  int64_t per_round;            // whether these two have K rows
  int64_t divides;              // whether the sum is divided by the number of those present
  int64_t empty;                // see Empty
  uint64_t key[2], first_run;
  const double* mean_hessian;   // (d, d) of f
  const double* mean_linear;    // (d)
  const double* minimiser;      // (d)
  double optimal_value;
  double* suboptimality;        // (R, K + 1) what is to be recorded; null for what is not wanted
  double* cost;
  double* squared_gradient_norm;
  double* squared_distance;
  double* squared_iterate_norm;
  double* iterate;              // (R, K + 1, d)
  int64_t columns;              // K + 1
  double* theta;                // (R, d) the models, in and out
};

namespace {

// The coordinates of eight runs.
struct Point {
  Doubles at[D];
};

// ---- samples: what a client's sample adds, at a point of its own in each lane

// f_i = (q'x - y)^2
struct LeastSquares {
  const double *features, *targets;

  FEDPROOF_INLINE Point row(const int64_t* pick) const {
    Point q;
    for (int i = 0; i < D; i++) q.at[i] = gather(features + i, pick, D);
    return q;
  }

  FEDPROOF_INLINE static Doubles dot(const Point& q, const Point& x) {
    Doubles sum = q.at[0] * x.at[0];
    for (int i = 1; i < D; i++) sum = fused(q.at[i], x.at[i], sum);
    return sum;
  }

  // out += scale H_i x
  FEDPROOF_INLINE void add_product(const int64_t* pick, const Point& x, double scale, Point& out) const {
    const Point q = row(pick);
    const Doubles factor = dot(q, x) * (2 * scale);
    for (int i = 0; i < D; i++) out.at[i] = fused(factor, q.at[i], out.at[i]);
  }

  // out += scale (H_i x - b_i)
  FEDPROOF_INLINE void add_gradient(const int64_t* pick, const Point& x, double scale, Point& out) const {
    const Point q = row(pick);
    const Doubles factor = (dot(q, x) - gather(targets, pick, 1)) * (2 * scale);
    for (int i = 0; i < D; i++) out.at[i] = fused(factor, q.at[i], out.at[i]);
  }
};

// f_i = x'Hx/2 - b'x
struct General {
  const double *hessians, *linear;

  FEDPROOF_INLINE void add_product(const int64_t* pick, const Point& x, double scale, Point& out) const {
    for (int i = 0; i < D; i++) {
      Doubles sum = {};
      for (int j = 0; j < D; j++) sum = fused(gather(hessians + i * D + j, pick, D * D), x.at[j], sum);
      out.at[i] = fused(sum, scale, out.at[i]);
    }
  }

  FEDPROOF_INLINE void add_gradient(const int64_t* pick, const Point& x, double scale, Point& out) const {
    add_product(pick, x, scale, out);
    for (int i = 0; i < D; i++) out.at[i] = fused(gather(linear + i, pick, D), -scale, out.at[i]);
  }
};

// ---- local steps: w goes from theta to the client's final model; `picks` holds eight samples for each draw

// S snapshots of M steps, as sim/algorithms/fedavg_svrg.py writes them: moves e_1 = -step grad f_n(snapshot) and
// e_{m+1} = e_m + e_1 - step H_# e_m.
template <class Samples>
void reduced_variance_steps(const Task& task, int64_t client, const Samples& samples, const int64_t* picks, double step,
                            Point& w) {
  const double* h = task.hessian + client * D * D;
  const double* b = task.linear + client * D;
  for (int64_t s = 0; s < task.outer; s++) {
    Point first;
    for (int i = 0; i < D; i++) {
      Doubles sum = Doubles{} + b[i];
      for (int j = 0; j < D; j++) sum = fused(w.at[j], -h[i * D + j], sum);
      first.at[i] = step * sum;
    }
    Point move = first;
    for (int64_t m = 1; m < task.inner; m++, picks += kLanes) {
      Point next;
      for (int i = 0; i < D; i++) next.at[i] = move.at[i] + first.at[i];
      samples.add_product(picks, move, -step, next);
      move = next;
    }
    for (int i = 0; i < D; i++) w.at[i] += move.at[i];
  }
}

// Steps along the mean gradient of a fresh minibatch.
template <class Samples>
void plain_steps(const Task& task, const Samples& samples, const int64_t* picks, double step, Point& w) {
  const double scale = -step / task.inner;
  for (int64_t m = 0; m < task.outer; m++) {
    Point next = w;
    for (int64_t b = 0; b < task.inner; b++, picks += kLanes) samples.add_gradient(picks, w, scale, next);
    w = next;
  }
}

template <class Samples>
void local_steps(const Task& task, int64_t client, const Samples& samples, const int64_t* picks, double step,
                 Point& w) {
  if (task.reduces_variance)
    reduced_variance_steps(task, client, samples, picks, step, w);
  else
    plain_steps(task, samples, picks, step, w);
}

// ---- a block of runs

class Block {
 public:
  Block(const Task& task, int64_t first, int64_t last)
      : task_(task), key_{task.key[0], task.key[1]}, first_(first), live_(static_cast<int>(last - first)),
        groups_((live_ + kLanes - 1) / kLanes), draws_(task.reduces_variance ? task.outer * (task.inner - 1)
                                                                             : task.outer * task.inner),
        present_(task.clients * kBlock), picks_((draws_ + 3) / 4 * 4 * kLanes), keys_(task.size ? task.clients : 0) {
    for (int r = 0; r < kBlock; r++) {
      const int64_t run = first + (r < live_ ? r : 0);  // lanes beyond the last run compute some run, unread
      run_[r / kLanes][r % kLanes] = task.first_run + run;
      for (int i = 0; i < D; i++) theta_[r / kLanes].at[i][r % kLanes] = task.theta[run * D + i];
    }
  }

  void advance(int64_t first_round, int64_t last_round) {
    if (first_round == 0) record(0);
    for (int64_t k = first_round; k < last_round; k++) {
      draw_presence(k);
      for (int g = 0; g < groups_; g++) sum_[g] = Point{};
      for (int64_t c = 0; c < task_.clients; c++) work(c, k);
      add_up();
      record(k + 1);
    }
    for (int r = 0; r < live_; r++)
      for (int i = 0; i < D; i++) task_.theta[(first_ + r) * D + i] = theta_[r / kLanes].at[i][r % kLanes];
  }

 private:
  // -- who takes part

  void draw_presence(int64_t k) {
    for (int g = 0; g < groups_; g++) {
      if (task_.size)
        choose(g, k);
      else
        toss(g, k);
    }
  }

  // Bernoulli; under "condition" again, with the next attempt's words, where nobody takes part.
  void toss(int g, int64_t k) {
    const uint64_t* threshold = task_.thresholds + (task_.per_round ? k * task_.clients : 0);
    Masks waiting = Masks{} - 1;
    uint64_t attempt = 0;
    do {
      Words number = {};
      for (int64_t c = 0; c < task_.clients; c += 4) {
        const Draws drawn =
            philox(run_[g], everywhere(attempt), everywhere(k), everywhere(kParticipation + c / 4), key_);
        for (int64_t j = 0; j < 4 && c + j < task_.clients; j++) {
          const Masks taken = (Masks)(drawn.word[j] < everywhere(threshold[c + j]));
          number -= (Words)taken;
          Flags& flags = present_[c + j].group[g];
          const Flags fresh = __builtin_convertvector(taken, Flags);
          flags = attempt == 0 ? fresh : (fresh & __builtin_convertvector(waiting, Flags)) |
                                             (flags & ~__builtin_convertvector(waiting, Flags));
        }
      }
      number_[g] = attempt == 0 ? number : ((number & (Words)waiting) | (number_[g] & ~(Words)waiting));
      waiting &= (Masks)(number == 0);
      attempt++;
    } while (task_.empty == kCondition && any(waiting));
  }

  // The S clients with the smallest words, ties to the smaller client: the S smallest keys (word, client), which differ.
  void choose(int g, int64_t k) {
    int bits = 0;  // of the client in a key
    while (task_.clients >> bits) bits++;
    for (int64_t c = 0; c < task_.clients; c += 4) {
      const Draws drawn = philox(run_[g], everywhere(0), everywhere(k), everywhere(kParticipation + c / 4), key_);
      for (int64_t j = 0; j < 4 && c + j < task_.clients; j++) keys_[c + j] = drawn.word[j] << bits | (uint64_t)(c + j);
    }
    Words last = {};  // the S-th smallest key: the largest number below which there are fewer than S keys, bit by bit
    for (int bit = 32 + bits - 1; bit >= 0; bit--) {
      const Words trial = last | everywhere(1ull << bit);
      Words below = {};
      for (int64_t c = 0; c < task_.clients; c++) below -= (Words)(keys_[c] < trial);
      last = below < everywhere(task_.size) ? trial : last;
    }
    for (int64_t c = 0; c < task_.clients; c++)
      present_[c].group[g] = __builtin_convertvector((Masks)(keys_[c] <= last), Flags);
    number_[g] = everywhere(task_.size);
  }

  // -- the local work of a client in the runs in which it takes part

  void work(int64_t c, int64_t k) {
    const int8_t* flags = reinterpret_cast<const int8_t*>(present_[c].group);
    int number = 0;
    for (int r = 0; r < live_; r++) {  // no branch: the next run overwrites one that is absent
      lane_[number] = r;
      number -= flags[r];
    }
    for (int p = number; p % kLanes; p++) lane_[p] = lane_[0];
    const int64_t first = c * task_.samples;
    for (int p = 0; p < number; p += kLanes) {
      if (task_.features)
        work(c, k, LeastSquares{task_.curvature + first * D, task_.slope + first}, lane_ + p, number - p);
      else
        work(c, k, General{task_.curvature + first * D * D, task_.slope + first * D}, lane_ + p, number - p);
    }
  }

  template <class Samples>
  FEDPROOF_INLINE void work(int64_t c, int64_t k, const Samples& samples, const int* lane, int number) {
    pick_samples(c, k, lane);
    int64_t place[kLanes];  // of the runs' first coordinates in theta_ and sum_
    for (int r = 0; r < kLanes; r++) place[r] = lane[r] / kLanes * (D * kLanes) + lane[r] % kLanes;
    const double* theta = reinterpret_cast<const double*>(theta_);
    double* sum = reinterpret_cast<double*>(sum_);
    Point start;
    for (int i = 0; i < D; i++) start.at[i] = gather(theta + i * kLanes, place, 1);
    Point w = start;
    local_steps(task_, c, samples, picks_.data(), task_.steps[k], w);
    const double scale = task_.scale[(task_.per_round ? k * task_.clients : 0) + c];
    for (int i = 0; i < D; i++) w.at[i] = scale * (w.at[i] - start.at[i]);
    for (int r = 0; r < kLanes && r < number; r++)
      for (int i = 0; i < D; i++) sum[place[r] + i * kLanes] += w.at[i][r];
  }

  void pick_samples(int64_t c, int64_t k, const int* lane) {
    Words run;
    for (int r = 0; r < kLanes; r++) run[r] = run_[lane[r] / kLanes][lane[r] % kLanes];
    for (int64_t j = 0; j < draws_; j += 4) {
      const Draws drawn = philox(run, everywhere(c), everywhere(k), everywhere(kSampling + j / 4), key_);
      for (int i = 0; i < 4; i++) {
        const Words pick = product32(drawn.word[i], everywhere(task_.counts[c])) >> 32;
        for (int r = 0; r < kLanes; r++) picks_[(j + i) * kLanes + r] = pick[r];
      }
    }
  }

  // -- the server

  void add_up() {
    for (int g = 0; g < groups_; g++) {
      const Doubles number = __builtin_convertvector(number_[g], Doubles);
      const Masks nobody = (Masks)(number_[g] == 0);
      const Doubles share = 1.0 / (nobody ? Doubles{} + 1 : number);
      for (int i = 0; i < D; i++) {
        Doubles& theta = theta_[g].at[i];
        theta += task_.divides ? sum_[g].at[i] * share : sum_[g].at[i];
        if (task_.empty == kZero) theta *= nobody ? Doubles{} : Doubles{} + 1;
      }
    }
  }

  void record(int64_t column) {
    for (int g = 0; g < groups_; g++) {
      const Point& x = theta_[g];
      if (task_.suboptimality || task_.cost) {
        const Doubles gap = suboptimality(x);
        write(task_.suboptimality, g, column, gap);
        write(task_.cost, g, column, gap + task_.optimal_value);
      }
      if (task_.squared_gradient_norm) write(task_.squared_gradient_norm, g, column, squared_gradient_norm(x));
      if (task_.squared_distance) write(task_.squared_distance, g, column, squared_norm(minus_minimiser(x)));
      if (task_.squared_iterate_norm) write(task_.squared_iterate_norm, g, column, squared_norm(x));
      if (task_.iterate) write_iterate(g, column);
    }
  }

  static Doubles squared_norm(const Point& x) {
    Doubles sum = x.at[0] * x.at[0];
    for (int i = 1; i < D; i++) sum += x.at[i] * x.at[i];
    return sum;
  }

  Point minus_minimiser(const Point& x) const {
    Point gap;
    for (int i = 0; i < D; i++) gap.at[i] = x.at[i] - task_.minimiser[i];
    return gap;
  }

  Point times_mean_hessian(const Point& x) const {
    Point found;
    for (int i = 0; i < D; i++) {
      const double* row = task_.mean_hessian + i * D;
      found.at[i] = row[0] * x.at[0];
      for (int j = 1; j < D; j++) found.at[i] = fused(x.at[j], row[j], found.at[i]);
    }
    return found;
  }

  Doubles suboptimality(const Point& x) const {  // (x - x*)'H(x - x*)/2 keeps its digits near x*
    const Point gap = minus_minimiser(x), bent = times_mean_hessian(gap);
    Doubles sum = bent.at[0] * gap.at[0];
    for (int i = 1; i < D; i++) sum += bent.at[i] * gap.at[i];
    return sum * 0.5;
  }

  Doubles squared_gradient_norm(const Point& x) const {
    Point gradient = times_mean_hessian(x);
    for (int i = 0; i < D; i++) gradient.at[i] -= task_.mean_linear[i];
    return squared_norm(gradient);
  }

  void write(double* out, int g, int64_t column, Doubles value) const {
    if (!out) return;
    for (int r = 0; r < kLanes && g * kLanes + r < live_; r++)
      out[(first_ + g * kLanes + r) * task_.columns + column] = value[r];
  }

  void write_iterate(int g, int64_t column) const {
    for (int r = 0; r < kLanes && g * kLanes + r < live_; r++)
      for (int i = 0; i < D; i++)
        task_.iterate[((first_ + g * kLanes + r) * task_.columns + column) * D + i] = theta_[g].at[i][r];
  }

  // One client's presence in the runs of the block.
  struct Presence {
    Flags group[kBlock / kLanes];
  };

  const Task& task_;
  const Key key_;
  const int64_t first_;
  const int live_, groups_;  // runs of the block, and vectors of them
  const int64_t draws_;
  Words run_[kBlock / kLanes], number_[kBlock / kLanes];       // the runs' numbers, and how many take part
  Point theta_[kBlock / kLanes], sum_[kBlock / kLanes];
  int lane_[kBlock + kLanes];                                   // the runs in which a client takes part
  std::vector<Presence> present_;
  std::vector<int64_t> picks_;
  std::vector<Words> keys_;
};

}  // namespace

// Take runs first..last-1 (at most `quadratic_block_size`) through rounds first_round..last_round-1. Returns 0, or 1
// where there is no memory.
extern "C" int quadratic_advance(const Task* task, int64_t first, int64_t last, int64_t first_round,
                                 int64_t last_round) {
  try {
    // on the heap: a thread's stack may be as small as 512 KiB
    const auto block = std::make_unique<Block>(*task, first, last);
    block->advance(first_round, last_round);
    return 0;
  } catch (const std::bad_alloc&) {
    return 1;
  }
}

extern "C" int64_t quadratic_block_size() { return kBlock; }
