// What the programs by hand share: draws, metrics, threads. It shares no code with the package and is no part of it.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace {

constexpr int D = DIM, kBlock = 256, kWidth = 16, kHalves = kWidth / 8;
typedef double Vector __attribute__((vector_size(64)));

struct Common {
  int64_t clients, samples, runs, rounds;
  const double *hessian, *linear, *rows;  // (N, d, d), (N, d), (N, n, d + 1) of features and target
  uint64_t key[2];
  const double *mean_hessian, *mean_linear, *minimiser, *start;
  double *gap, *norm;  // (R, K + 1) f - f*, squared norm of the gradient
};

#if CHEAP

// xoshiro256++ (Blackman, Vigna), one a lane: what a run draws depends on how many there are and on the threads.
class Draws {
 public:
  Draws(const uint64_t* key, uint64_t first) {
    uint64_t seed = key[0] ^ (first << 32);
    for (auto& row : state_)
      for (auto& word : row) {  // splitmix64
        uint64_t z = seed += 0x9E3779B97F4A7C15ull;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
        word = z ^ (z >> 31);
      }
  }
  void operator()(const uint64_t*, uint64_t, uint64_t, uint64_t, uint64_t* __restrict out) {
    for (int half = 0; half < 2; half++)
      for (int r = 0; r < kWidth; r++) {
        uint64_t a = state_[0][r], b = state_[1][r], c = state_[2][r], d = state_[3][r];
        const uint64_t sum = a + d, word = ((sum << 23) | (sum >> 41)) + a, shifted = b << 17;
        c ^= a, d ^= b, b ^= c, a ^= d, c ^= shifted, d = (d << 45) | (d >> 19);
        state_[0][r] = a, state_[1][r] = b, state_[2][r] = c, state_[3][r] = d;
        out[2 * half * kWidth + r] = word & 0xFFFFFFFFull, out[(2 * half + 1) * kWidth + r] = word >> 32;
      }
  }

 private:
  uint64_t state_[4][kWidth];
};

#else

// Philox4x32-10 for kWidth runs; out (4, kWidth).
class Draws {
 public:
  Draws(const uint64_t* key, uint64_t) : key_(key) {}
  void operator()(const uint64_t* run, uint64_t client, uint64_t round, uint64_t block, uint64_t* __restrict out) {
    const uint64_t mask = 0xFFFFFFFFull;
    for (int r = 0; r < kWidth; r++) {
      uint64_t c0 = run[r], c1 = client, c2 = round, c3 = block, k0 = key_[0], k1 = key_[1];
      for (int i = 0; i < 10; i++) {
        const uint64_t p0 = (c0 & mask) * 0xD2511F53ull, p1 = (c2 & mask) * 0xCD9E8D57ull;
        c0 = (p1 >> 32) ^ c1 ^ k0, c1 = p1 & mask, c2 = (p0 >> 32) ^ c3 ^ k1, c3 = p0 & mask;
        k0 = (k0 + 0x9E3779B9ull) & mask, k1 = (k1 + 0xBB67AE85ull) & mask;
      }
      out[r] = c0, out[kWidth + r] = c1, out[2 * kWidth + r] = c2, out[3 * kWidth + r] = c3;
    }
  }

 private:
  const uint64_t* key_;
};

#endif

// The metrics of run `run` at a point whose coordinates are `apart` numbers from each other.
inline void measure(const Common& job, int64_t run, int64_t column, const double* point, int64_t apart) {
  double gap = 0, norm = 0;
  for (int i = 0; i < D; i++) {
    double bent = 0, gradient = -job.mean_linear[i];
    for (int j = 0; j < D; j++) {
      bent += job.mean_hessian[i * D + j] * (point[j * apart] - job.minimiser[j]);
      gradient += job.mean_hessian[i * D + j] * point[j * apart];
    }
    gap += bent * (point[i * apart] - job.minimiser[i]) / 2;
    norm += gradient * gradient;
  }
  job.gap[run * (job.rounds + 1) + column] = gap;
  job.norm[run * (job.rounds + 1) + column] = norm;
}

// Samples of a client for the local steps of kWidth runs, as places in its rows.
inline void pick(const Common& job, Draws& draws, const uint64_t* run, int64_t client, int64_t round, int64_t count,
                 int64_t* picks) {
  alignas(64) uint64_t words[4 * kWidth];
  for (int64_t j = 0; j < count; j += 4) {
    draws(run, client, round, (17ull << 24) + j / 4, words);
    for (int i = 0; i < 4 * kWidth; i++) picks[j * kWidth + i] = (int64_t)((words[i] * job.samples) >> 32) * (D + 1);
  }
}

// All runs, in blocks over threads.
template <class Block, class Job>
void all_blocks(const Job& job, int64_t most, int64_t threads) {
  const int64_t share = (job.all.runs + threads - 1) / threads;
  const int64_t width = std::min<int64_t>(most, (share + kWidth - 1) / kWidth * kWidth);
  std::atomic<int64_t> next{0};
  const auto work = [&] {
    for (int64_t first; (first = next.fetch_add(width)) < job.all.runs;)
      Block(job, first, std::min(first + width, job.all.runs)).advance();
  };
  std::vector<std::thread> others;
  for (int64_t t = 1; t < threads; t++) others.emplace_back(work);
  work();
  for (auto& other : others) other.join();
}

}  // namespace
