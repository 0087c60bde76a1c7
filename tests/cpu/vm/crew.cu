// Kernels for test_crew.c and bench_scan.c: nvcc -ptx -lineinfo -arch=compute_75 crew.cu
constexpr unsigned kFull = 0xffffffffu;

// ---- a scan in one pass: tiles look back at the states of those before them ----

constexpr int kThreads = 256, kItems = 8, kTile = kThreads * kItems, kWarps = kThreads / 32;
enum Status : unsigned { kNothing = 0, kPartial = 1, kInclusive = 2 };

__device__ __forceinline__ void publish(unsigned long long *state, Status status, int value) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(state),
               "l"((unsigned long long)status << 32 | (unsigned)value)
               : "memory");
}

__device__ __forceinline__ unsigned long long poll(const unsigned long long *state) {
  unsigned long long s;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(s) : "l"(state) : "memory");
  return s;
}

// The sum of everything before this tile; called by one whole warp.
__device__ int look_back(const unsigned long long *states, int tile) {
  const int lane = threadIdx.x % 32;
  int before = 0;
  for (int end = tile - 1; end >= 0; end -= 32) {
    const int other = end - lane;
    unsigned long long s = (unsigned long long)kInclusive << 32;
    if (other >= 0)
      while ((s = poll(states + other)) >> 32 == kNothing) {
      }
    const unsigned whole = __ballot_sync(kFull, s >> 32 == kInclusive);
    const int last = whole ? __ffs(whole) - 1 : 31;
    int v = lane <= last ? (int)(unsigned)s : 0;
    for (int offset = 16; offset > 0; offset /= 2) v += __shfl_xor_sync(kFull, v, offset);
    before += v;
    if (whole) break;
  }
  return before;
}

__device__ __forceinline__ int warp_inclusive(int v) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int offset = 1; offset < 32; offset *= 2) {
    const int n = __shfl_up_sync(kFull, v, offset);
    if (lane >= offset) v += n;
  }
  return v;
}

extern "C" __global__ void scan_look_back(const int *__restrict__ in, int *__restrict__ out,
                                          unsigned long long *states, unsigned *ticket, int n) {
  __shared__ int totals[kWarps], first, tile_number;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (threadIdx.x == 0) tile_number = atomicAdd(ticket, 1);
  __syncthreads();
  const int tile = tile_number;
  const int base = tile * kTile + threadIdx.x * kItems;
  int items[kItems], sum = 0;
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    items[k] = base + k < n ? in[base + k] : 0;
    sum += items[k];
  }
  const int inclusive = warp_inclusive(sum);
  if (lane == 31) totals[warp] = inclusive;
  __syncthreads();
  if (warp == 0) {
    int t = lane < kWarps ? totals[lane] : 0;
    const int s = warp_inclusive(t);
    const int total = __shfl_sync(kFull, s, kWarps - 1);
    if (lane == 0) publish(states + tile, tile ? kPartial : kInclusive, total);
    const int before = tile ? look_back(states, tile) : 0;
    if (lane == 0 && tile) publish(states + tile, kInclusive, before + total);
    if (lane < kWarps) totals[lane] = s - t;
    if (lane == 0) first = before;
  }
  __syncthreads();
  int running = first + totals[warp] + inclusive - sum;
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    if (base + k < n) out[base + k] = running;
    running += items[k];
  }
}

// ---- small ones ----

extern "C" __global__ void count(unsigned *counter, unsigned long long *wide, int rounds) {
  for (int k = 0; k < rounds; ++k) {
    atomicAdd(counter, 1);
    atomicMax(wide, (unsigned long long)(blockIdx.x * blockDim.x + threadIdx.x));
    atomicXor(counter + 1, 1u << (threadIdx.x % 32));
  }
}

// Every block but the first waits for the one before it, which has something to do first.
extern "C" __global__ void chain(volatile unsigned *flags, unsigned *out, int rounds) {
  if (threadIdx.x == 0) {
    unsigned x = blockIdx.x;
    for (int k = 0; k < rounds; ++k) x = x * 1664525u + 1013904223u;
    out[blockIdx.x] = x;
    if (blockIdx.x)
      while (flags[blockIdx.x - 1] == 0) {
      }
    __threadfence();
    flags[blockIdx.x] = 1;
  }
}

// Nobody sets a flag.
extern "C" __global__ void wait_for_ever(volatile unsigned *flags, unsigned *out, int rounds) {
  unsigned x = blockIdx.x;
  for (int k = 0; k < rounds; ++k) x = x * 1664525u + 1013904223u;
  if (threadIdx.x == 0) {
    out[blockIdx.x] = x;
    while (flags[blockIdx.x] == 0) {
    }
  }
  __syncthreads();
}

// A barrier of all blocks, `rounds` times; counts who came too early.
extern "C" __global__ void meet(unsigned *arrived, unsigned *early, int rounds) {
  for (int k = 0; k < rounds; ++k) {
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      atomicAdd(arrived, 1);
      const unsigned goal = (k + 1) * gridDim.x;
      while (*(volatile unsigned *)arrived < goal) {
      }
      __threadfence();
    }
    __syncthreads();
    if (*(volatile unsigned *)arrived < (k + 1) * gridDim.x) atomicAdd(early, 1);
  }
}

// Three words per block: many blocks share a word of the machine's bits.
extern "C" __global__ void write_three(int *out) {
  if (threadIdx.x < 3) out[blockIdx.x * 3 + threadIdx.x] = blockIdx.x;
}
extern "C" __global__ void read_all(const int *in, int *sum, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(sum, in[i]);
}

// One block writes pairs that belong together, the others read them.
extern "C" __global__ void pairs(ulonglong2 *pair, unsigned *torn, int rounds) {
  if (threadIdx.x) return;
  for (int k = 1; k <= rounds; ++k) {
    if (blockIdx.x == 0) {
      const unsigned long long x = (unsigned long long)k * 0x9e3779b97f4a7c15ull;
      asm volatile("st.volatile.global.v2.u64 [%0], {%1, %2};" ::"l"(pair), "l"(x), "l"(~x)
                   : "memory");
    } else {
      unsigned long long a, b;
      asm volatile("ld.volatile.global.v2.u64 {%0, %1}, [%2];" : "=l"(a), "=l"(b) : "l"(pair)
                   : "memory");
      if (a != ~b) atomicAdd(torn, 1);
    }
  }
}

extern "C" __global__ void fault_late(int *out, int rounds) {
  unsigned x = blockIdx.x;
  for (int k = 0; k < rounds; ++k) x = x * 1664525u + 1013904223u;
  out[blockIdx.x == 40 && threadIdx.x == 0 ? 1 << 12 : blockIdx.x] = x;
}

extern "C" __global__ void run_on(unsigned *out) {
  unsigned x = threadIdx.x;
  while (x != 0xffffffffu) x = (x * 5 + 1) & 0x7fffffffu;
  out[blockIdx.x] = x;
}
