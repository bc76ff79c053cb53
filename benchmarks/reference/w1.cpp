// W1 by hand: FedAvg-SVRG on least squares, with Philox streams, threads and vectors of eight runs. It shares no code
// with the package and is no part of it: benchmarks/w1_fedavg_svrg.py compiles it on the spot, for DIM coordinates.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace {

constexpr int D = DIM, kBlock = 256, kWidth = 16, kHalves = kWidth / 8;
typedef double Vector __attribute__((vector_size(64)));

struct Job {
  int64_t clients, samples, runs, rounds, snapshots, inner;
  const double *hessian, *linear, *features;  // (N, d, d), (N, d), (N, n, d)
  const uint64_t* thresholds;                 // (N) present iff the word is below
  const double* scale;                        // (N) 1 / (N p)
  double step;
  uint64_t key[2];
  const double *mean_hessian, *mean_linear, *minimiser, *start;
  double *gap, *norm;  // (R, K + 1) f - f*, squared norm of the gradient
};

// Philox4x32-10 for kWidth runs; out (4, kWidth).
inline void philox(const uint64_t* run, uint64_t client, uint64_t round, uint64_t block, const uint64_t* key,
                   uint64_t* __restrict out) {
  const uint64_t mask = 0xFFFFFFFFull;
  for (int r = 0; r < kWidth; r++) {
    uint64_t c0 = run[r], c1 = client, c2 = round, c3 = block, k0 = key[0], k1 = key[1];
    for (int i = 0; i < 10; i++) {
      const uint64_t p0 = (c0 & mask) * 0xD2511F53ull, p1 = (c2 & mask) * 0xCD9E8D57ull;
      c0 = (p1 >> 32) ^ c1 ^ k0, c1 = p1 & mask, c2 = (p0 >> 32) ^ c3 ^ k1, c3 = p0 & mask;
      k0 = (k0 + 0x9E3779B9ull) & mask, k1 = (k1 + 0xBB67AE85ull) & mask;
    }
    out[r] = c0, out[kWidth + r] = c1, out[2 * kWidth + r] = c2, out[3 * kWidth + r] = c3;
  }
}

class Block {
 public:
  Block(const Job& job, int64_t first, int64_t last)
      : job_(job), first_(first), width_((int)(last - first)), draws_(job.snapshots * job.inner),
        presence_((job.clients + 4) * kBlock), picks_((draws_ + 4) * kWidth) {
    for (int r = 0; r < kBlock; r++) {
      run_[r] = first + (r < width_ ? r : 0);
      for (int i = 0; i < D; i++) theta_[i][r] = job.start[i];
    }
  }

  void advance() {
    record(0);
    for (int64_t k = 0; k < job_.rounds; k++) {
      draw_presence(k);
      for (auto& row : sum_) std::fill(row, row + kBlock, 0.0);
      for (int64_t c = 0; c < job_.clients; c++) client(c, k);
      for (int i = 0; i < D; i++)
        for (int r = 0; r < kBlock; r++) theta_[i][r] += sum_[i][r];
      record(k + 1);
    }
  }

 private:
  void draw_presence(int64_t k) {
    for (int64_t b = 0; b < (job_.clients + 3) / 4; b++)
      for (int r = 0; r < width_; r += kWidth) {
        philox(run_ + r, 0, k, (16ull << 24) + b, job_.key, words_);
        for (int j = 0; j < 4; j++)
          for (int i = 0; i < kWidth; i++) presence_[(4 * b + j) * kBlock + r + i] = (uint32_t)words_[j * kWidth + i];
      }
  }

  // The runs in which a client takes part, kWidth at a time.
  void client(int64_t c, int64_t k) {
    int count = 0;
    const uint32_t* words = &presence_[c * kBlock];
    for (int r = 0; r < width_; r++) {
      lane_[count] = r;
      count += words[r] < job_.thresholds[c];
    }
    for (int r = count; r % kWidth; r++) lane_[r] = lane_[0];
    for (int p = 0; p < count; p += kWidth) local_steps(c, k, lane_ + p, std::min(count - p, kWidth));
  }

  void local_steps(int64_t c, int64_t k, const int* lane, int live) {
    const double *h = job_.hessian + c * D * D, *b = job_.linear + c * D, *q = job_.features + c * job_.samples * D;
    uint64_t run[kWidth];
    for (int r = 0; r < kWidth; r++) run[r] = run_[lane[r]];
    for (int64_t j = 0; j < draws_; j += 4) {
      philox(run, c, k, (17ull << 24) + j / 4, job_.key, words_);
      for (int i = 0; i < 4 * kWidth; i++) picks_[j * kWidth + i] = (int64_t)((words_[i] * job_.samples) >> 32) * D;
    }
    for (int half = 0; half < kHalves; half++) {
      const int* at = lane + 8 * half;
      Vector w[D], first[D], move[D], row[D];
      for (int i = 0; i < D; i++)
        for (int r = 0; r < 8; r++) w[i][r] = theta_[i][at[r]];
      const int64_t* pick = picks_.data() + 8 * half;
      for (int64_t s = 0; s < job_.snapshots; s++) {
        for (int i = 0; i < D; i++) {
          Vector sum = b[i] - h[i * D] * w[0];
          for (int j = 1; j < D; j++) sum -= h[i * D + j] * w[j];
          first[i] = move[i] = job_.step * sum;
        }
        pick += kWidth;  // at m = 0 the sample cancels
        for (int64_t m = 1; m < job_.inner; m++, pick += kWidth) {
          for (int i = 0; i < D; i++)
            for (int r = 0; r < 8; r++) row[i][r] = q[pick[r] + i];
          Vector dot = row[0] * move[0];
          for (int i = 1; i < D; i++) dot += row[i] * move[i];
          dot *= -2 * job_.step;
          for (int i = 0; i < D; i++) move[i] += first[i] + dot * row[i];
        }
        for (int i = 0; i < D; i++) w[i] += move[i];
      }
      for (int r = 0; r < 8 && 8 * half + r < live; r++)
        for (int i = 0; i < D; i++) sum_[i][at[r]] += job_.scale[c] * (w[i][r] - theta_[i][at[r]]);
    }
  }

  void record(int64_t column) {
    for (int r = 0; r < width_; r++) {
      double gap = 0, norm = 0;
      for (int i = 0; i < D; i++) {
        double bent = 0, gradient = -job_.mean_linear[i];
        for (int j = 0; j < D; j++) {
          bent += job_.mean_hessian[i * D + j] * (theta_[j][r] - job_.minimiser[j]);
          gradient += job_.mean_hessian[i * D + j] * theta_[j][r];
        }
        gap += bent * (theta_[i][r] - job_.minimiser[i]) / 2;
        norm += gradient * gradient;
      }
      job_.gap[(first_ + r) * (job_.rounds + 1) + column] = gap;
      job_.norm[(first_ + r) * (job_.rounds + 1) + column] = norm;
    }
  }

  const Job& job_;
  const int64_t first_;
  const int width_;
  const int64_t draws_;
  alignas(64) double theta_[D][kBlock], sum_[D][kBlock];
  alignas(64) uint64_t run_[kBlock], words_[4 * kWidth];
  int lane_[kBlock + kWidth];
  std::vector<uint32_t> presence_;
  std::vector<int64_t> picks_;
};

}  // namespace

extern "C" void w1(const Job* job, int64_t threads) {
  const int64_t share = (job->runs + threads - 1) / threads;
  const int64_t width = std::min<int64_t>(kBlock, (share + kWidth - 1) / kWidth * kWidth);
  std::atomic<int64_t> next{0};
  const auto work = [&] {
    for (int64_t first; (first = next.fetch_add(width)) < job->runs;)
      Block(*job, first, std::min(first + width, job->runs)).advance();
  };
  std::vector<std::thread> others;
  for (int64_t t = 1; t < threads; t++) others.emplace_back(work);
  work();
  for (auto& other : others) other.join();
}
