// Local SGD and local Adam of an open system on ridge logistic regression: what sim/kernels/logistic_steps.py computes.
//
// Shapes: N clients in the pool, n samples, d >= 8 coordinates, R runs, S slots, K rounds. A model is V = ceil(d / 8)
// vectors; the last of them holds the coordinates d-8..d-1, so that it can be read from a row of d numbers, and those
// that an earlier vector holds already are zero in it. A run is computed by one thread, through all rounds of a call,
// because the data of those present then stay in the second-level cache.
//
// Signed margin of sample j: u_j = y_j w.x_j; log-loss log(1 + exp(-u)); gradient -y x / (1 + exp(u)).
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <utility>
#include <vector>

#include "blocks.h"
#include "exponential.h"
#include "lanes.h"
#include "philox.h"

namespace {

#if defined(__AVX512F__)
constexpr int kRows = 8;   // samples whose margins are added up at once, as the registers allow
constexpr int kTile = 3;   // models whose margins at eight samples are
#else
constexpr int kRows = 4;
constexpr int kTile = 1;
#endif
constexpr int kPadded = 8;          // kRows, up to whole vectors
constexpr int64_t kModels = 16;     // of a client, whose losses are computed at once: they fit the first-level cache
constexpr int64_t kFactors = 64;    // of at most 2 each, in a lane's product: that of all lanes is far from overflow
constexpr int64_t kWords = 4;       // of a Philox block
constexpr int64_t kLine = 8;        // numbers in a line of the cache

}  // namespace

// What does not change between calls. Those that are written: theta, h and vhat.
struct Task {
  const double* features;  // (N, n, d)
  const double* labels;    // (N, n)
  int64_t pool, samples, dim;  // N, n, d
  double ridge;
  const int32_t* clients;  // (K+1, R, S), -1 for nobody
  const uint8_t* uploads;  // (K, R, S)
  int64_t rounds, runs, slots;
  const double* steps;  // (K,)
  int64_t local_steps, batch, adam, reset;  // batch 0: every sample
  double beta1, beta2, eps;
  uint64_t key[2], first_run;
  double* theta;     // (R, d)
  double *h, *vhat;  // (R, S, 8 V)
};

namespace {

typedef double Unaligned __attribute__((vector_size(8 * kLanes), aligned(8), may_alias));

FEDPROOF_INLINE Doubles load(const double* from) { return *(const Unaligned*)from; }
FEDPROOF_INLINE void store(double* to, Doubles value) { *(Unaligned*)to = value; }

// The sum of a vector's lanes, for eight vectors: lanes l and l+4, then l+2, then l+1.
FEDPROOF_INLINE Doubles sums(const Doubles* v) {
#if defined(__clang__) || __GNUC__ >= 12
  Doubles a[4], b[2];
  for (int i = 0; i < 4; i++)
    a[i] = __builtin_shufflevector(v[2 * i], v[2 * i + 1], 0, 1, 2, 3, 8, 9, 10, 11) +
           __builtin_shufflevector(v[2 * i], v[2 * i + 1], 4, 5, 6, 7, 12, 13, 14, 15);
  for (int i = 0; i < 2; i++)
    b[i] = __builtin_shufflevector(a[2 * i], a[2 * i + 1], 0, 1, 4, 5, 8, 9, 12, 13) +
           __builtin_shufflevector(a[2 * i], a[2 * i + 1], 2, 3, 6, 7, 10, 11, 14, 15);
  return __builtin_shufflevector(b[0], b[1], 0, 2, 4, 6, 8, 10, 12, 14) +
         __builtin_shufflevector(b[0], b[1], 1, 3, 5, 7, 9, 11, 13, 15);
#else
  Doubles found;
  for (int i = 0; i < 8; i++)
    found[i] = ((v[i][0] + v[i][4]) + (v[i][2] + v[i][6])) + ((v[i][1] + v[i][5]) + (v[i][3] + v[i][7]));
  return found;
#endif
}

// -scale y / (1 + exp(u)), u = y z.
FEDPROOF_INLINE Doubles coefficients(Doubles z, Doubles y, double scale) {
  const Doubles u = y * z, e = exponential(-magnitude(u));
  return -scale * y * (u >= all(0.0) ? e : all(1.0)) / (1.0 + e);
}

// How d numbers are a model's vectors.
struct Shape {
  int64_t dim, vectors;
  Masks tail;  // the lanes of the last vector that no other holds

  explicit Shape(int64_t d) : dim(d), vectors((d + kLanes - 1) / kLanes), tail{} {
    for (int64_t i = 0; i < kLanes; i++) tail[i] = i >= kLanes * vectors - d ? -1 : 0;
  }
  FEDPROOF_INLINE int64_t last() const { return dim - kLanes; }
  void pack(const double* from, Doubles* to) const {
    for (int64_t v = 0; v + 1 < vectors; v++) to[v] = load(from + kLanes * v);
    to[vectors - 1] = masked(load(from + last()), tail);
  }
  void unpack(const Doubles* from, double* to) const {
    for (int64_t v = 0; v + 1 < vectors; v++) store(to + kLanes * v, from[v]);
    for (int64_t i = kLanes * (vectors - 1); i < dim; i++) to[i] = from[vectors - 1][i - last()];
  }
};

// z_j = rows[j].w for j < M; zeros up to whole vectors.
template <int M>
FEDPROOF_INLINE void margins(int64_t vectors, const Doubles* const* rows, const Doubles* w, double* z) {
  Doubles sum[kPadded];
  const Doubles* x[M];
  for (int j = M; j < kPadded; j++) sum[j] = Doubles{};
  for (int j = 0; j < M; j++) x[j] = rows[j], sum[j] = x[j][0] * w[0];
  for (int64_t v = 1; v < vectors; v++)
    for (int j = 0; j < M; j++) sum[j] = fused(x[j][v], w[v], sum[j]);
  for (int j = 0; j < kPadded; j += 8) store(z + j, sums(sum + j));
}

// g += sum_j coefficient_j rows[j] over j < M.
template <int M>
FEDPROOF_INLINE void add_rows(int64_t vectors, const Doubles* const* rows, const double* coefficient, Doubles* g) {
  Doubles c[M];
  const Doubles* x[M];
  for (int j = 0; j < M; j++) c[j] = all(coefficient[j]), x[j] = rows[j];
  for (int64_t v = 0; v < vectors; v++) {
    Doubles even = c[0] * x[0][v], odd = g[v];
    for (int j = 1; j < M; j += 2) odd = fused(c[j], x[j][v], odd);
    for (int j = 2; j < M; j += 2) even = fused(c[j], x[j][v], even);
    g[v] = even + odd;
  }
}

// g = ridge w + the mean gradient of the log-loss on the samples in these rows. After the labels there are up to
// kPadded more numbers.
void gradient(int64_t vectors, double ridge, const Doubles* const* rows, const double* labels, const Blocks& blocks,
              const Doubles* w, Doubles* g) {
  alignas(64) double z[2][kPadded], c[2][kPadded];
  const auto block_margins = [&](int64_t b) FEDPROOF_LAMBDA {
    const Doubles* const* const x = rows + blocks.begin(b);
    with_count<kRows>(blocks.size(b), [&](auto m) FEDPROOF_LAMBDA { margins<m>(vectors, x, w, z[b % 2]); });
  };
  const auto block_coefficients = [&](int64_t b) FEDPROOF_LAMBDA {
    const double* const y = labels + blocks.begin(b);
    for (int64_t j = 0; j < kPadded; j += kLanes)
      store(c[b % 2] + j, coefficients(load(z[b % 2] + j), load(y + j), blocks.share));
  };
  for (int64_t v = 0; v < vectors; v++) g[v] = ridge * w[v];
  block_margins(0);
  if (blocks.number > 1) block_margins(1);
  block_coefficients(0);
  for (int64_t b = 0; b < blocks.number; b++) {  // what an exponential waits for was computed a block before
    if (b + 2 < blocks.number) block_margins(b + 2);
    if (b + 1 < blocks.number) block_coefficients(b + 1);
    const Doubles* const* const x = rows + blocks.begin(b);
    with_count<kRows>(blocks.size(b), [&](auto m) FEDPROOF_LAMBDA { add_rows<m>(vectors, x, c[b % 2], g); });
  }
}

// The rows of the clients in the slots, as vectors: what is used is copied here once, because from the second-level
// cache a vector that lies in two lines takes twice as long.
class Slab {
 public:
  Slab(const Task& task, const Shape& shape, Doubles* memory)
      : task_(task), shape_(shape), at_(memory), clients_(task.slots, -1), copied_(task.slots * task.samples) {}

  // Whose rows those of a slot are from now on.
  void settle(int64_t slot, int64_t client) {
    if (clients_[slot] == client) return;
    clients_[slot] = client;
    std::memset(&copied_[slot * task_.samples], 0, task_.samples);
  }

  // Where a sample's row is; `missing`: whether it must be copied first.
  Doubles* row(int64_t slot, int64_t sample, bool& missing) {
    const int64_t number = slot * task_.samples + sample;
    missing = !copied_[number];
    copied_[number] = 1;
    return at_ + number * shape_.vectors;
  }

 private:
  const Task& task_;
  const Shape& shape_;
  Doubles* const at_;
  std::vector<int64_t> clients_;
  std::vector<uint8_t> copied_;
};

// A row that is not yet in the slab.
struct Missing {
  const double* from;
  Doubles* to;
};

// One client's work in one round of a run.
struct Work {
  int64_t round, slot, client = -1;
  bool fresh, uploads;  // whether its optimiser starts afresh; whether its model is averaged
  std::vector<const Doubles*> rows;  // (local steps, batch), or of all samples
  std::vector<double> labels;        // of the same; and kPadded more, whatever they are
  std::vector<Missing> missing;      // rows to be copied
};

// A run on its way through rounds.
class Run {
 public:
  Run(const Task& task, const Shape& shape, Slab& slab, int64_t run)
      : task_(task), shape_(shape), slab_(slab), run_(run), blocks_(task.batch ? task.batch : task.samples, kRows),
        theta_(shape_.vectors), w_(shape_.vectors), g_(shape_.vectors), mean_(shape_.vectors) {
    const int64_t rows = task.batch ? task.local_steps * task.batch : task.samples;
    for (Work& work : work_) {
      work.rows.resize(rows);
      work.labels.assign(rows + kPadded, 0.0);
    }
    // draws come in whole vectors of blocks
    drawn_.resize((rows + kWords * kLanes - 1) / (kWords * kLanes) * (kWords * kLanes));
  }

  // path (B, R, d): theta after each of these rounds.
  void advance(int64_t first_round, int64_t last_round, double* path) {
    double* const theta = task_.theta + run_ * task_.dim;
    shape_.pack(theta, theta_);
    Work *current = &work_[0], *next = &work_[1];
    next->round = first_round, next->slot = -1;
    find(*next, last_round);
    for (int64_t k = first_round; k < last_round; k++) {
      int64_t uploaded = 0;
      for (int64_t v = 0; v < shape_.vectors; v++) mean_[v] = Doubles{};
      while (next->round == k) {
        std::swap(current, next);
        next->round = current->round, next->slot = current->slot;
        find(*next, last_round);
        work(*current);
        if (!current->uploads) continue;
        uploaded++;
        for (int64_t v = 0; v < shape_.vectors; v++) mean_[v] += w_[v];
      }
      if (uploaded)
        for (int64_t v = 0; v < shape_.vectors; v++) theta_[v] = mean_[v] / (double)uploaded;
      shape_.unpack(theta_, path + ((k - first_round) * task_.runs + run_) * task_.dim);
    }
    shape_.unpack(theta_, theta);
  }

 private:
  int32_t client(int64_t round, int64_t slot) const {
    return task_.clients[(round * task_.runs + run_) * task_.slots + slot];
  }

  // Go on to the next client whose work has an effect; past the last round when there is none.
  void find(Work& work, int64_t last_round) {
    for (; work.round < last_round; work.round++, work.slot = -1) {
      while (++work.slot < task_.slots) {
        const int32_t n = client(work.round, work.slot);
        if (n < 0) continue;
        work.uploads = task_.uploads[(work.round * task_.runs + run_) * task_.slots + work.slot];
        const bool stays = client(work.round + 1, work.slot) == n;
        if (!work.uploads && !(task_.adam && !task_.reset && stays)) continue;
        work.fresh = task_.reset || work.round == 0 || client(work.round - 1, work.slot) != n;
        prepare(work, n);
        return;
      }
    }
  }

  void prepare(Work& work, int64_t n) {
    const double *x = task_.features + n * task_.samples * task_.dim, *y = task_.labels + n * task_.samples;
    work.client = n;
    work.missing.clear();
    slab_.settle(work.slot, n);
    if (task_.batch) draw(work);
    for (size_t j = 0; j < work.rows.size(); j++) {
      const int64_t sample = task_.batch ? drawn_[j] : (int64_t)j;
      bool missing;
      Doubles* const row = slab_.row(work.slot, sample, missing);
      if (missing) {
        const double* const from = x + sample * task_.dim;
        work.missing.push_back({from, row});
        // these two lines make the processor fetch the rest
        for (int64_t i = 0; i < 2 * kLine; i += kLine) __builtin_prefetch(from + i, 0, 2);
      }
      work.rows[j] = row;
      work.labels[j] = y[sample];
    }
  }

  // The samples of a client's round, index (x n) >> 32, by the contract in sim/streams.py.
  void draw(const Work& work) {
    Words blocks;
    for (int64_t i = 0; i < kLanes; i++) blocks[i] = kSampling + i;
    for (size_t at = 0; at < drawn_.size(); at += kWords * kLanes, blocks += kLanes) {
      const Draws draws = philox(everywhere(task_.first_run + run_), everywhere(work.client), everywhere(work.round),
                                 blocks, {task_.key[0], task_.key[1]});
      for (int64_t i = 0; i < kWords; i++) {
        const Words index = product32(draws.word[i], everywhere(task_.samples)) >> 32;
        for (int64_t l = 0; l < kLanes; l++) drawn_[at + kWords * l + i] = index[l];
      }
    }
  }

  // w = the client's model after its local steps from theta.
  void work(const Work& work) {
    const int64_t vectors = shape_.vectors;
    const double step = task_.steps[work.round];
    double *const h = state(task_.h, work), *const vhat = state(task_.vhat, work);
    if (task_.adam && work.fresh)
      for (int64_t i = 0; i < kLanes * vectors; i++) h[i] = vhat[i] = 0.0;
    for (int64_t v = 0; v < vectors; v++) w_[v] = theta_[v];
    for (const Missing& row : work.missing) shape_.pack(row.from, row.to);
    for (int64_t m = 0; m < task_.local_steps; m++) {
      const int64_t first = m * task_.batch;
      gradient(vectors, task_.ridge, &work.rows[first], &work.labels[first], blocks_, w_, g_);
      if (task_.adam) {
        adam(h, vhat, step);
      } else {
        for (int64_t v = 0; v < vectors; v++) w_[v] -= step * g_[v];
      }
    }
  }

  double* state(double* all, const Work& work) const {
    return task_.adam ? all + (run_ * task_.slots + work.slot) * kLanes * shape_.vectors : nullptr;
  }

  // The step of sim.algorithms.LocalAdam.
  void adam(double* h, double* vhat, double step) {
    for (int64_t v = 0; v < shape_.vectors; v++) {
      const Doubles g = g_[v];
      const Doubles mean = task_.beta1 * load(h + kLanes * v) + (1 - task_.beta1) * g, old = load(vhat + kLanes * v);
      const Doubles square = task_.beta2 * old + (1 - task_.beta2) * (g * g), largest = square <= old ? old : square;
      Doubles root;
      for (int i = 0; i < kLanes; i++) root[i] = std::sqrt(task_.eps + largest[i]);
      store(h + kLanes * v, mean);
      store(vhat + kLanes * v, largest);
      w_[v] -= step * mean / root;
    }
  }

  const Task& task_;
  const Shape& shape_;
  Slab& slab_;
  const int64_t run_;
  const Blocks blocks_;
  const Vectors theta_, w_, g_, mean_;
  Work work_[2];
  std::vector<uint32_t> drawn_;
};

// sum_j log(1 + exp(-u_j)), u_j = y_j z_j; z and y have up to seven more numbers after their n.
//
// It is the sum of max(-u_j, 0) + log(1 + e_j), e_j = exp(-|u_j|), and the sum of the logarithms is that of a product,
// of which p = prod (1 + e_j) - 1 is kept: all its terms are positive, so nothing cancels.
double log_losses(const double* z, const double* y, int64_t n) {
  const Masks number = {0, 1, 2, 3, 4, 5, 6, 7};
  Doubles beyond = Doubles{};
  double logs = 0.0;
  for (int64_t begin = 0; begin < n; begin += kLanes * kFactors) {
    Doubles p = Doubles{};
    const int64_t end = begin + kLanes * kFactors < n ? begin + kLanes * kFactors : n;
    for (int64_t j = begin; j < end; j += kLanes) {
      const Doubles u = load(y + j) * load(z + j);
      const Masks there = number < n - j;
      const Doubles e = masked(exponential(-magnitude(u)), there);
      beyond += masked(-u, there & (u < all(0.0)));
      p = fused(p, e, p + e);
    }
    double q[kLanes];
    store(q, p);
    for (int lanes = kLanes / 2; lanes; lanes /= 2)
      for (int i = 0; i < lanes; i++) q[i] = (q[i] + q[i + lanes]) + q[i] * q[i + lanes];
    logs += std::log1p(q[0]);
  }
  const Doubles parts[8] = {beyond};
  return sums(parts)[0] + logs;
}

// The mean of f_n(models[b, r]) over the clients present in round first_round + b, for b < B and runs first..last-1;
// nan where there are none.
//
// All models at which a client's loss is wanted, of any run and round, are taken one client after another: its features
// come once from memory, and serve them all. A loss does not depend on those that are computed with it.
class Losses {
 public:
  Losses(const Task& task, int64_t first, int64_t last, int64_t first_round, int64_t count)
      : task_(task), shape_(task.dim), first_(first), runs_(last - first), first_round_(first_round), count_(count),
        width_((task.samples + kLanes - 1) / kLanes * kLanes), rows_(width_ * shape_.vectors),
        w_(kModels * shape_.vectors), z_(kModels * width_), y_(width_, 0.0), wanted_(count * runs_ * task.slots),
        losses_(wanted_.size()) {}

  void compute(const double* models, double* result) {
    const std::vector<int64_t> ends = sort();
    for (int64_t i = task_.samples * shape_.vectors; i < width_ * shape_.vectors; i++) rows_[i] = Doubles{};
    for (int64_t n = 0, begin = 0; n < task_.pool; begin = ends[n++])
      if (begin < ends[n]) of_client(n, begin, ends[n], models);
    for (int64_t b = 0; b < count_; b++) {
      for (int64_t r = 0; r < runs_; r++) {
        const int64_t at = (b * runs_ + r) * task_.slots;
        double sum = 0.0;
        int64_t present = 0;
        for (int64_t s = 0; s < task_.slots; s++) {
          if (clients(b, r)[s] < 0) continue;
          sum += losses_[at + s];
          present++;
        }
        result[b * task_.runs + first_ + r] =
            present ? sum / (double)present : std::numeric_limits<double>::quiet_NaN();
      }
    }
  }

 private:
  const int32_t* clients(int64_t b, int64_t r) const {  // (S)
    return task_.clients + ((first_round_ + b) * task_.runs + first_ + r) * task_.slots;
  }

  // Fills `wanted_` with the numbers (b R + r) S + s of those present, by client; returns where each client's end.
  std::vector<int64_t> sort() {
    std::vector<int64_t> at(task_.pool + 1, 0);
    const auto each = [&](const auto& function) {
      for (int64_t i = 0, number = 0; i < count_ * runs_; i++) {
        const int32_t* const n = clients(i / runs_, i % runs_);
        for (int64_t s = 0; s < task_.slots; s++, number++)
          if (n[s] >= 0) function(n[s], number);
      }
    };
    each([&](int32_t n, int64_t) { at[n + 1]++; });
    for (int64_t n = 0; n < task_.pool; n++) at[n + 1] += at[n];
    each([&](int32_t n, int64_t number) { wanted_[at[n]++] = number; });
    return at;
  }

  void of_client(int64_t n, int64_t begin, int64_t end, const double* models) {
    const int64_t vectors = shape_.vectors, samples = task_.samples;
    const double* const x = task_.features + n * samples * task_.dim;
    for (int64_t j = 0; j < samples; j++) shape_.pack(x + j * task_.dim, rows_ + j * vectors);
    std::memcpy(y_.data(), task_.labels + n * samples, sizeof(double) * samples);
    for (int64_t i = begin; i < end; i += kModels) {
      const int64_t size = end - i < kModels ? end - i : kModels;
      for (int64_t m = 0; m < size; m++) {
        const int64_t at = wanted_[i + m] / task_.slots;
        const double* const model = models + (at / runs_ * task_.runs + first_ + at % runs_) * task_.dim;
        shape_.pack(model, w_ + m * vectors);
      }
      for (int64_t j = 0; j < samples; j += kLanes) {
        for (int64_t m = 0; m < size; m += kTile)
          with_count<kTile>(size - m < kTile ? size - m : kTile,
                            [&](auto number) FEDPROOF_LAMBDA { margins_of<number>(j, m); });
      }
      for (int64_t m = 0; m < size; m++)
        losses_[wanted_[i + m]] = 0.5 * task_.ridge * squared_norm(w_ + m * vectors) +
                                  log_losses(&z_[m * width_], y_.data(), samples) / (double)samples;
    }
  }

  // z[m, j] = x_j.w_m for the eight samples from j on and M models from m on.
  template <int M>
  FEDPROOF_INLINE void margins_of(int64_t j, int64_t m) {
    const int64_t vectors = shape_.vectors;
    const Doubles *const x = rows_ + j * vectors, *const w = w_ + m * vectors;
    Doubles sum[M][kLanes] = {};
    for (int64_t v = 0; v < vectors; v++)
      for (int k = 0; k < M; k++)
        for (int i = 0; i < kLanes; i++) sum[k][i] = fused(x[i * vectors + v], w[k * vectors + v], sum[k][i]);
    for (int k = 0; k < M; k++) store(&z_[(m + k) * width_ + j], sums(sum[k]));
  }

  double squared_norm(const Doubles* w) const {
    Doubles parts[8] = {};
    for (int64_t v = 0; v < shape_.vectors; v++) parts[0] = fused(w[v], w[v], parts[0]);
    return sums(parts)[0];
  }

  const Task& task_;
  const Shape shape_;
  const int64_t first_, runs_, first_round_, count_, width_;
  const Vectors rows_, w_;
  std::vector<double> z_, y_;
  std::vector<int64_t> wanted_;
  std::vector<double> losses_;
};

}  // namespace

// Take runs first..last-1 through rounds first_round..last_round-1; path (B, R, d) receives theta after each of them.
// slab: (S, n, 8 V), at a multiple of 64 bytes, whatever is in it; of this call alone.
// Returns 0, or 1 where there is no memory.
extern "C" int open_advance(const Task* task, int64_t first, int64_t last, int64_t first_round, int64_t last_round,
                            double* path, double* slab) {
  try {
    const Shape shape(task->dim);
    Slab rows(*task, shape, (Doubles*)slab);
    for (int64_t r = first; r < last; r++) Run(*task, shape, rows, r).advance(first_round, last_round, path);
    return 0;
  } catch (const std::bad_alloc&) {
    return 1;
  }
}

// The global losses of runs first..last-1 at models (B, R, d), those of rounds first_round..first_round+count-1, into
// result (B, R). Returns 0, or 1 where there is no memory.
extern "C" int open_losses(const Task* task, int64_t first, int64_t last, int64_t first_round, int64_t count,
                           const double* models, double* result) {
  try {
    Losses(*task, first, last, first_round, count).compute(models, result);
    return 0;
  } catch (const std::bad_alloc&) {
    return 1;
  }
}
