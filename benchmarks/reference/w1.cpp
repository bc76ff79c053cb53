// W1 by hand: FedAvg-SVRG on least squares, with Philox streams, threads and vectors of eight runs; with CHEAP another
// generator. benchmarks/by_hand.py compiles it on the spot, for DIM coordinates.
#include "quadratics.h"

namespace {

struct Job {
  Common all;
  int64_t snapshots, inner;
  const uint64_t* thresholds;  // (N) present iff the word is below
  const double* scale;         // (N) 1 / (N p)
  double step;
};

class Block {
 public:
  Block(const Job& job, int64_t first, int64_t last)
      : job_(job), all_(job.all), first_(first), width_((int)(last - first)), count_(job.snapshots * job.inner),
        draw_(job.all.key, first), presence_((all_.clients + 4) * kBlock), picks_((count_ + 4) * kWidth) {
    for (int r = 0; r < kBlock; r++) {
      run_[r] = first + (r < width_ ? r : 0);
      for (int i = 0; i < D; i++) theta_[i][r] = all_.start[i];
    }
  }

  void advance() {
    record(0);
    for (int64_t k = 0; k < all_.rounds; k++) {
      draw_presence(k);
      for (auto& row : sum_) std::fill(row, row + kBlock, 0.0);
      for (int64_t c = 0; c < all_.clients; c++) client(c, k);
      for (int i = 0; i < D; i++)
        for (int r = 0; r < kBlock; r++) theta_[i][r] += sum_[i][r];
      record(k + 1);
    }
  }

 private:
  void draw_presence(int64_t k) {
    for (int64_t b = 0; b < (all_.clients + 3) / 4; b++)
      for (int r = 0; r < width_; r += kWidth) {
        draw_(run_ + r, 0, k, (16ull << 24) + b, words_);
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
    const double *h = all_.hessian + c * D * D, *b = all_.linear + c * D, *q = all_.rows + c * all_.samples * (D + 1);
    uint64_t run[kWidth];
    for (int r = 0; r < kWidth; r++) run[r] = run_[lane[r]];
    pick(all_, draw_, run, c, k, count_, picks_.data());
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
    for (int r = 0; r < width_; r++) measure(all_, first_ + r, column, &theta_[0][r], kBlock);
  }

  const Job& job_;
  const Common& all_;
  const int64_t first_;
  const int width_;
  const int64_t count_;
  Draws draw_;
  alignas(64) double theta_[D][kBlock], sum_[D][kBlock];
  alignas(64) uint64_t run_[kBlock], words_[4 * kWidth];
  int lane_[kBlock + kWidth];
  std::vector<uint32_t> presence_;
  std::vector<int64_t> picks_;
};

}  // namespace

extern "C" void w1(const Job* job, int64_t threads) { all_blocks<Block>(*job, kBlock, threads); }
