// SCAFFOLD by hand on least squares, as reference/w1.cpp is: the clients' controls lie run by run, and their mean is kept
// up to date by those who take part.
#include "quadratics.h"

namespace {

struct Job {
  Common all;
  int64_t steps, active;
  double step, server_step;
};

class Block {
 public:
  Block(const Job& job, int64_t first, int64_t last)
      : job_(job), all_(job.all), first_(first), width_((int)(last - first)), draw_(job.all.key, first),
        words_((all_.clients + 4) * kBlock), control_(all_.clients * D * kBlock), picks_((job.steps + 4) * kWidth) {
    for (int r = 0; r < kBlock; r++) {
      run_[r] = first + (r < width_ ? r : 0);
      for (int i = 0; i < D; i++) theta_[i][r] = all_.start[i], mean_[i][r] = 0;
    }
  }

  void advance() {
    record(0);
    for (int64_t k = 0; k < all_.rounds; k++) {
      draw_words(k);
      for (int i = 0; i < D; i++)
        for (int r = 0; r < kBlock; r++) sum_[i][r] = change_[i][r] = 0;
      for (int64_t c = 0; c < all_.clients; c++) client(c, k);
      const double share = job_.server_step / job_.active, each = 1.0 / all_.clients;
      for (int i = 0; i < D; i++)
        for (int r = 0; r < kBlock; r++) theta_[i][r] += share * sum_[i][r], mean_[i][r] += each * change_[i][r];
      record(k + 1);
    }
  }

 private:
  // The clients' words, with the client below: the smallest take part.
  void draw_words(int64_t k) {
    alignas(64) uint64_t words[4 * kWidth];
    for (int64_t b = 0; b < (all_.clients + 3) / 4; b++)
      for (int r = 0; r < width_; r += kWidth) {
        draw_(run_ + r, 0, k, (16ull << 24) + b, words);
        for (int j = 0; j < 4; j++)
          for (int i = 0; i < kWidth; i++) words_[(4 * b + j) * kBlock + r + i] = words[j * kWidth + i] << 31 | (4 * b + j);
      }
  }

  void client(int64_t c, int64_t k) {
    int count = 0;
    alignas(64) int64_t before[kBlock] = {};
    const int64_t* mine = &words_[c * kBlock];
    for (int64_t other = 0; other < all_.clients; other++)
      for (int r = 0; r < width_; r++) before[r] += words_[other * kBlock + r] < mine[r];
    for (int r = 0; r < width_; r++) {
      lane_[count] = r;
      count += before[r] < job_.active;
    }
    for (int r = count; r % kWidth; r++) lane_[r] = lane_[0];
    for (int p = 0; p < count; p += kWidth) local_steps(c, k, lane_ + p, std::min(count - p, kWidth));
  }

  void local_steps(int64_t c, int64_t k, const int* lane, int live) {
    const double* q = all_.rows + c * all_.samples * (D + 1);
    double* control = &control_[c * D * kBlock];
    uint64_t run[kWidth];
    for (int r = 0; r < kWidth; r++) run[r] = run_[lane[r]];
    pick(all_, draw_, run, c, k, job_.steps, picks_.data());
    for (int half = 0; half < kHalves; half++) {
      const int* at = lane + 8 * half;
      Vector x[D], y[D], apart[D], push[D], row[D + 1];
      for (int i = 0; i < D; i++) {
        for (int r = 0; r < 8; r++) x[i][r] = theta_[i][at[r]], apart[i][r] = control[i * kBlock + at[r]] - mean_[i][at[r]];
        y[i] = x[i], push[i] = job_.step * apart[i];
      }
      const int64_t* pick = picks_.data() + 8 * half;
      for (int64_t h = 0; h < job_.steps; h++, pick += kWidth) {
        for (int i = 0; i <= D; i++)
          for (int r = 0; r < 8; r++) row[i][r] = q[pick[r] + i];
        Vector residual = row[0] * y[0] - row[D];
        for (int i = 1; i < D; i++) residual += row[i] * y[i];
        residual *= -2 * job_.step;
        for (int i = 0; i < D; i++) y[i] += push[i] + residual * row[i];
      }
      const double rate = 1 / (job_.steps * job_.step);
      for (int i = 0; i < D; i++) {
        const Vector next = apart[i] + rate * (x[i] - y[i]), moved = y[i] - x[i];
        for (int r = 0; r < 8 && 8 * half + r < live; r++) {
          double& old = control[i * kBlock + at[r]];
          change_[i][at[r]] += next[r] - old;
          old = next[r];
          sum_[i][at[r]] += moved[r];
        }
      }
    }
  }

  void record(int64_t column) {
    for (int r = 0; r < width_; r++) measure(all_, first_ + r, column, &theta_[0][r], kBlock);
  }

  const Job& job_;
  const Common& all_;
  const int64_t first_;
  const int width_;
  Draws draw_;
  alignas(64) double theta_[D][kBlock], sum_[D][kBlock], mean_[D][kBlock], change_[D][kBlock];
  alignas(64) uint64_t run_[kBlock];
  int lane_[kBlock + kWidth];
  std::vector<int64_t> words_;
  std::vector<double> control_;
  std::vector<int64_t> picks_;
};

}  // namespace

extern "C" void scaffold(const Job* job, int64_t threads) { all_blocks<Block>(*job, kBlock, threads); }
