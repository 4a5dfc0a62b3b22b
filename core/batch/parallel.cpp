#include "batch/parallel.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace symplectree {

bool on_threads(int jobs, int threads, const std::function<void(int, int, const std::atomic<bool>&)>& work,
                const AskedToStop& asked) {
  std::atomic<bool> stop = false;
  std::atomic<int> next = 0;
  std::mutex mutex;
  std::condition_variable ended;
  std::exception_ptr fault;
  int running = std::min(jobs, std::max(threads, 1));
  const auto take_jobs = [&](int thread) {
    try {
      for (int job = next++; job < jobs && !stop; job = next++) work(job, thread, stop);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!fault) fault = std::current_exception();
      stop = true;
    }
    const std::lock_guard lock(mutex);
    if (--running == 0) ended.notify_one();
  };
  std::vector<std::thread> workers;
  bool stopped = false;
  for (int k = 0, count = running; k < count; ++k) workers.emplace_back(take_jobs, k);
  {
    std::unique_lock lock(mutex);
    while (!ended.wait_for(lock, std::chrono::milliseconds(50), [&] { return running == 0; })) {
      lock.unlock();  // who is asked may wait for a job that holds this or another lock
      if (!stopped && asked()) stop = stopped = true;
      lock.lock();
    }
  }
  for (std::thread& worker : workers) worker.join();
  if (fault) std::rethrow_exception(fault);
  return !stopped;
}

}  // namespace symplectree
