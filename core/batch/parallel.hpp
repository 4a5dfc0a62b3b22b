// Jobs that threads take one after the other.
#pragma once

#include <atomic>
#include <functional>

namespace symplectree {

// Asked about every twentieth of a second by the thread that waits: shall all stop?
using AskedToStop = std::function<bool()>;

// work(job, thread, stop) of jobs 0 … jobs − 1 on so many threads; jobs look at `stop` now and then and end early when
// it is set, because of `asked` or of an exception in another job. The first exception is thrown here, in the end.
// Returns false where it was asked to stop.
bool on_threads(int jobs, int threads, const std::function<void(int, int, const std::atomic<bool>&)>& work,
                const AskedToStop& asked);

}  // namespace symplectree
