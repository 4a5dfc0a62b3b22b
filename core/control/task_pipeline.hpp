// Tasks done by several threads and consumed in order by the caller, who works along while it waits.
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace symplectree {

class TaskPipeline {
 public:
  using Produce = std::function<void(int thread, int task)>;
  using Consume = std::function<void(int task)>;

  // `threads`: the caller's included.
  explicit TaskPipeline(int threads);
  ~TaskPipeline();
  TaskPipeline(const TaskPipeline&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  // produce(thread, i) for i = 0 … count − 1 by any thread, then consume(i) in this order by the caller. What a task
  // throws is thrown here, after all threads have come to rest.
  void run(int count, const Produce& produce, const Consume& consume);

 private:
  struct Batch {
    const Produce* produce = nullptr;
    int count = 0, size = 1, blocks = 0;
    std::atomic<int> next{0};
    std::vector<std::atomic<char>> done;
    std::exception_ptr failure;
  };

  void work(int thread);
  void await_round(long seen) const;  // for a moment, awake
  bool take_block(int thread);        // false when none is left
  void give(int count, const Produce& produce);
  bool failed();
  void fail();  // with the exception at hand

  Batch batch_;
  std::mutex mutex_;
  std::condition_variable wake_, rest_;
  // Written under the mutex, and read without it by those who wait awake.
  std::atomic<long> round_{0};                  // counts calls of `run`
  std::atomic<int> active_{0};                  // workers inside the present round
  std::atomic<bool> open_{false}, end_{false};  // may workers enter it? Are they to end?
  std::vector<std::thread> workers_;
};

}  // namespace symplectree
