// simdev: an asynchronous simulated accelerator for a build of torch that has none.
//
//  * operations return to the host before they are done: one worker thread per stream runs the CPU's kernels
//  * streams, events with timing, record_stream, a caching allocator (reserved > allocated, peaks, out of
//    memory), pinned and pageable copies, asynchronous errors, rows for torch.profiler
//  * the cost of each operation is programmable, so a test knows what a right timer has to read
//
// One translation unit: torch's headers take most of the build, and are read once.
#include "common.h"

#include "trace.h"
#include "config.h"
#include "streams.h"
#include "events.h"
#include "allocator.h"
#include "pinned.h"
#include "generator.h"
#include "hooks.h"
#include "guard.h"
#include "launch.h"
#include "shapes.h"
#include "views.h"
#include "fallback.h"
#include "copies.h"
#include "convolution.h"
#include "dropout.h"
#include "autocast.h"
#include "controls.h"
#include "profiler.h"
