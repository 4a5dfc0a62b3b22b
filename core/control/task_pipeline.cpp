#include "control/task_pipeline.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace symplectree {
namespace {

constexpr int kBlocksPerThread = 16;  // so that the last ones keep nobody waiting for long
// Workers stay awake that long after a round: to wake up takes 50 µs and more, and rounds follow each other within less
// than a millisecond while a problem is solved.
constexpr std::chrono::microseconds kAwake{300};
constexpr int kChecks = 64;  // between two looks at the clock

}  // namespace

TaskPipeline::TaskPipeline(int threads) {
  for (int i = 1; i < threads; ++i) workers_.emplace_back([this, i] { work(i); });
}

TaskPipeline::~TaskPipeline() {
  {
    std::lock_guard lock(mutex_);
    end_ = true;
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void TaskPipeline::run(int count, const Produce& produce, const Consume& consume) {
  if (workers_.empty()) {
    for (int i = 0; i < count; ++i) produce(0, i), consume(i);
    return;
  }
  give(count, produce);
  try {
    int consumed = 0;
    for (int block = 0; block < batch_.blocks && !failed(); ++block) {
      while (!batch_.done[block].load(std::memory_order_acquire))
        if (!take_block(0)) std::this_thread::yield();
      const int end = failed() ? consumed : std::min(count, (block + 1) * batch_.size);
      for (; consumed < end; ++consumed) consume(consumed);
    }
  } catch (...) {
    fail();
  }
  batch_.next = batch_.blocks;
  for (int i = 0; i < kChecks && active_ > 0; ++i) std::this_thread::yield();
  std::unique_lock lock(mutex_);
  open_ = false;  // who wakes up only now is not waited for
  rest_.wait(lock, [this] { return active_ == 0; });
  if (batch_.failure) std::rethrow_exception(std::exchange(batch_.failure, nullptr));
}

void TaskPipeline::give(int count, const Produce& produce) {
  std::lock_guard lock(mutex_);
  batch_.produce = &produce, batch_.count = count, batch_.failure = nullptr;
  batch_.size = std::max(1, count / (kBlocksPerThread * threads()));
  batch_.blocks = (count + batch_.size - 1) / batch_.size;
  batch_.done = std::vector<std::atomic<char>>(batch_.blocks);
  batch_.next = 0;
  open_ = true, ++round_;
  wake_.notify_all();
}

bool TaskPipeline::take_block(int thread) {
  const int block = batch_.next.fetch_add(1);
  if (block >= batch_.blocks) return false;
  try {
    const int end = std::min(batch_.count, (block + 1) * batch_.size);
    for (int i = block * batch_.size; i < end; ++i) (*batch_.produce)(thread, i);
  } catch (...) {
    fail();
  }
  batch_.done[block].store(1, std::memory_order_release);
  return true;
}

bool TaskPipeline::failed() {
  std::lock_guard lock(mutex_);
  return batch_.failure != nullptr;
}

void TaskPipeline::fail() {
  std::lock_guard lock(mutex_);
  if (!batch_.failure) batch_.failure = std::current_exception();
}

void TaskPipeline::await_round(long seen) const {
  const auto last = std::chrono::steady_clock::now() + kAwake;
  do {
    for (int i = 0; i < kChecks; ++i) {
      if (end_ || round_ != seen) return;
      std::this_thread::yield();
    }
  } while (std::chrono::steady_clock::now() < last);
}

void TaskPipeline::work(int thread) {
  long seen = 0;
  std::unique_lock lock(mutex_);
  while (true) {
    if (seen > 0) {
      lock.unlock();
      await_round(seen);
      lock.lock();
    }
    wake_.wait(lock, [&] { return end_ || (open_ && round_ != seen); });
    if (end_) return;
    seen = round_, ++active_;
    lock.unlock();
    while (take_block(thread)) {
    }
    lock.lock();
    if (--active_ == 0) rest_.notify_all();
  }
}

}  // namespace symplectree
