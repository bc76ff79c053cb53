// ProxSkip by hand on quadratics: sixteen runs at a time go through all rounds, and their values stay in the first-level
// cache.
#include "quadratics.h"

namespace {

struct Job {
  Common all;
  double step, chance;
  uint64_t threshold;
};

class Block {
 public:
  Block(const Job& job, int64_t first, int64_t last)
      : job_(job), all_(job.all), first_(first), width_((int)(last - first)), draw_(job.all.key, first),
        values_(all_.clients) {
    for (int r = 0; r < kWidth; r++) run_[r] = first + (r < width_ ? r : 0);
    for (auto& v : values_)
      for (int i = 0; i < D; i++)
        for (int half = 0; half < kHalves; half++) v.x[i][half] = Vector{} + all_.start[i], v.h[i][half] = Vector{};
  }

  void advance() {
    record(0);
    for (int64_t k = 0; k < all_.rounds; k++) {
      draw_(run_, 0, k, 16ull << 24, words_);
      for (int half = 0; half < kHalves; half++) round(half);
      record(k + 1);
    }
  }

 private:
  struct Client {
    Vector x[D][kHalves], h[D][kHalves];
  };

  void round(int half) {
    const double step = job_.step, far = step / job_.chance, back = job_.chance / step;
    Vector sum[D] = {}, talks;
    for (int r = 0; r < 8; r++) talks[r] = words_[8 * half + r] < job_.threshold;
    for (int64_t c = 0; c < all_.clients; c++) {
      Client& v = values_[c];
      const double *h = all_.hessian + c * D * D, *b = all_.linear + c * D;
      Vector moved[D];
      for (int i = 0; i < D; i++) {
        Vector slope = v.h[i][half] + b[i];
        for (int j = 0; j < D; j++) slope -= h[i * D + j] * v.x[j][half];
        moved[i] = v.x[i][half] + step * slope;
        sum[i] += moved[i] - far * v.h[i][half];
      }
      for (int i = 0; i < D; i++) v.x[i][half] = moved[i];
    }
    Vector mean[D];
    for (int i = 0; i < D; i++) mean[i] = sum[i] * (1.0 / all_.clients);
    for (auto& v : values_)
      for (int i = 0; i < D; i++) {
        const Vector jump = talks * (mean[i] - v.x[i][half]);
        v.x[i][half] += jump;
        v.h[i][half] += back * jump;
      }
  }

  void record(int64_t column) {
    alignas(64) double point[D][kWidth];
    for (int i = 0; i < D; i++)
      for (int half = 0; half < kHalves; half++) {
        Vector sum = {};
        for (const auto& v : values_) sum += v.x[i][half];
        sum *= 1.0 / all_.clients;
        for (int r = 0; r < 8; r++) point[i][8 * half + r] = sum[r];
      }
    for (int r = 0; r < width_; r++) measure(all_, first_ + r, column, &point[0][r], kWidth);
  }

  const Job& job_;
  const Common& all_;
  const int64_t first_;
  const int width_;
  Draws draw_;
  alignas(64) uint64_t run_[kWidth], words_[4 * kWidth];
  std::vector<Client> values_;
};

}  // namespace

extern "C" void proxskip(const Job* job, int64_t threads) { all_blocks<Block>(*job, kWidth, threads); }
