// W2 by hand: open local SGD on ridge logistic regression, with Philox streams, one run a thread; plain loops, which the
// compiler makes vectors of (-ffast-math). It shares no code with the package and is no part of it:
// benchmarks/w2_open_fl.py compiles it on the spot. Who is present is given.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <thread>
#include <vector>

namespace {

struct Job {
  const double *features, *labels;  // (N, n, d), (N, n)
  int64_t samples, dim;
  double ridge, step;
  const int32_t* clients;  // (K + 1, R, S), -1 for nobody
  const uint8_t* uploads;  // (K, R, S)
  int64_t rounds, runs, slots, local_steps, batch;  // batch 0: every sample
  uint64_t key[2];
  double *final, *norm, *loss;  // (R, d), (R, K + 1), (R, K + 1) or null
};

void philox(uint64_t run, uint64_t client, uint64_t round, uint64_t block, const uint64_t* key, uint32_t* out) {
  uint32_t c0 = run, c1 = client, c2 = round, c3 = block, k0 = key[0], k1 = key[1];
  for (int i = 0; i < 10; i++) {
    const uint64_t p0 = (uint64_t)c0 * 0xD2511F53u, p1 = (uint64_t)c2 * 0xCD9E8D57u;
    c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0, c1 = (uint32_t)p1, c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1, c3 = (uint32_t)p0;
    k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
  }
  out[0] = c0, out[1] = c1, out[2] = c2, out[3] = c3;
}

double dot(const double* __restrict x, const double* __restrict y, int64_t d) {
  double sum = 0;
  for (int64_t i = 0; i < d; i++) sum += x[i] * y[i];
  return sum;
}

class Run {
 public:
  Run(const Job& job, int64_t run)
      : job_(job), run_(run), theta_(job.dim, 0.0), w_(job.dim), g_(job.dim), mean_(job.dim),
        count_(job.batch ? job.batch : job.samples), rows_(count_), y_(count_), z_(job.samples),
        picks_(job.local_steps * job.batch + 4) {}

  void advance() {
    record(0);
    for (int64_t k = 0; k < job_.rounds; k++) {
      std::fill(mean_.begin(), mean_.end(), 0.0);
      int64_t number = 0;
      for (int64_t s = 0; s < job_.slots; s++) {
        const int64_t at = (k * job_.runs + run_) * job_.slots + s;
        if (job_.clients[at] < 0 || !job_.uploads[at]) continue;
        local_steps(job_.clients[at], k);
        for (int64_t i = 0; i < job_.dim; i++) mean_[i] += w_[i];
        number++;
      }
      if (number)
        for (int64_t i = 0; i < job_.dim; i++) theta_[i] = mean_[i] / (double)number;
      record(k + 1);
    }
    std::copy(theta_.begin(), theta_.end(), job_.final + run_ * job_.dim);
  }

 private:
  void local_steps(int64_t client, int64_t k) {
    const double *x = job_.features + client * job_.samples * job_.dim, *y = job_.labels + client * job_.samples;
    uint32_t words[4];
    for (int64_t j = 0; j < job_.local_steps * job_.batch; j += 4) {
      philox(run_, client, k, (16ull << 24) + j / 4, job_.key, words);
      for (int i = 0; i < 4; i++) picks_[j + i] = ((uint64_t)words[i] * job_.samples) >> 32;
    }
    w_ = theta_;
    for (int64_t m = 0; m < job_.local_steps; m++) {
      for (int64_t j = 0; j < count_; j++) {
        const int64_t pick = job_.batch ? picks_[m * count_ + j] : j;
        rows_[j] = x + pick * job_.dim;
        y_[j] = y[pick];
      }
      step();
    }
  }

  void step() {
    const int64_t d = job_.dim;
    for (int64_t j = 0; j < count_; j++) z_[j] = dot(rows_[j], w_.data(), d);
    for (int64_t j = 0; j < count_; j++) z_[j] = y_[j] / (1 + std::exp(y_[j] * z_[j])) / (double)count_;
    double* __restrict g = g_.data();
    for (int64_t i = 0; i < d; i++) g[i] = job_.ridge * w_[i];
    for (int64_t j = 0; j < count_; j++)
      for (int64_t i = 0; i < d; i++) g[i] -= z_[j] * rows_[j][i];
    for (int64_t i = 0; i < d; i++) w_[i] -= job_.step * g[i];
  }

  void record(int64_t k) {
    const double norm = dot(theta_.data(), theta_.data(), job_.dim);
    job_.norm[run_ * (job_.rounds + 1) + k] = norm;
    if (!job_.loss) return;
    double total = 0;
    int64_t number = 0;
    for (int64_t s = 0; s < job_.slots; s++) {
      const int64_t client = job_.clients[(k * job_.runs + run_) * job_.slots + s];
      if (client < 0) continue;
      const double *x = job_.features + client * job_.samples * job_.dim, *y = job_.labels + client * job_.samples;
      for (int64_t j = 0; j < job_.samples; j++) z_[j] = y[j] * dot(x + j * job_.dim, theta_.data(), job_.dim);
      double sum = 0;
      for (int64_t j = 0; j < job_.samples; j++) sum += std::fmax(-z_[j], 0.0) + std::log1p(std::exp(-std::fabs(z_[j])));
      total += sum / (double)job_.samples;
      number++;
    }
    job_.loss[run_ * (job_.rounds + 1) + k] = number ? job_.ridge / 2 * norm + total / (double)number : NAN;
  }

  const Job& job_;
  const int64_t run_;
  std::vector<double> theta_, w_, g_, mean_;
  const int64_t count_;
  std::vector<const double*> rows_;
  std::vector<double> y_, z_;
  std::vector<int64_t> picks_;
};

}  // namespace

extern "C" void w2(const Job* job, int64_t threads) {
  std::atomic<int64_t> next{0};
  const auto work = [&] {
    for (int64_t run; (run = next.fetch_add(1)) < job->runs;) Run(*job, run).advance();
  };
  std::vector<std::thread> others;
  for (int64_t t = 1; t < threads; t++) others.emplace_back(work);
  work();
  for (auto& other : others) other.join();
}
