// target: 90
// What cards from sm_80 on have: reductions across a warp, asynchronous copies, clusters, bulk copies
// with mbarriers, matrix products, atomics on 16 bytes.
#include "common.cuh"

#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda_pipeline.h>
#include <mma.h>

namespace cg = cooperative_groups;
using namespace nvcuda;

__global__ void __cluster_dims__(1, 1, 1) cluster(int *out)
{
    __shared__ int mine[64];
    auto c = cg::this_cluster();
    mine[threadIdx.x] = threadIdx.x;
    c.sync();
    const int *first = c.map_shared_rank(mine, 0);
    out[threadIdx.x] = __reduce_add_sync(~0u, first[63 - threadIdx.x]) + c.num_blocks();
    c.sync();
}

// Inclusive sums of 16 rows of 16: the rows times a triangle of ones.
__global__ void triangle(const half *in, float *out)
{
    __shared__ half ones[256];
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> rows;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> upper;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums;
    for (int i = threadIdx.x; i < 256; i += 32)
        ones[i] = i / 16 <= i % 16 ? 1.0f : 0.0f;
    __syncwarp();
    wmma::load_matrix_sync(rows, in, 16);
    wmma::load_matrix_sync(upper, ones, 16);
    wmma::fill_fragment(sums, 0.0f);
    wmma::mma_sync(sums, rows, upper, sums);
    wmma::store_matrix_sync(out, sums, 16, wmma::mem_row_major);
}

__global__ void copies(const int *in, int *out)
{
    __shared__ alignas(16) int tile[256];
    __pipeline_memcpy_async(tile + 4 * threadIdx.x, in + 4 * threadIdx.x, 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[threadIdx.x] = tile[255 - threadIdx.x];
}

__global__ void bulk(const int *in, int *out)
{
    __shared__ alignas(128) int tile[256];
    #pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::barrier<cuda::thread_scope_block> ready;
    if (threadIdx.x == 0)
        init(&ready, blockDim.x);
    __syncthreads();
    if (threadIdx.x == 0) {
        cuda::memcpy_async(tile, in, cuda::aligned_size_t<16>(sizeof tile), ready);
    }
    ready.arrive_and_wait();
    out[threadIdx.x] = tile[255 - threadIdx.x];
}

struct alignas(16) pair {
    long long a, b;
};

__global__ void wide(pair *p, float4 *f)
{
    pair old = *p, next;
    for (;;) { // one thread after the other adds to both halves
        next = {old.a + 1, old.b - 2};
        pair seen = atomicCAS(p, old, next);
        if (seen.a == old.a && seen.b == old.b)
            break;
        old = seen;
    }
    atomicAdd(f, make_float4(1, 2, 3, 4));
}

int main()
{
    int bad = 0;
    int *ints;
    CUDA_CHECK(cudaMallocManaged(&ints, 1024));
    cluster<<<1, 64>>>(ints);
    CUDA_CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 64; i++)
        bad += ints[i] != (i < 32 ? 1520 : 496) + 1;

    half *rows;
    float *sums;
    CUDA_CHECK(cudaMallocManaged(&rows, 512));
    CUDA_CHECK(cudaMallocManaged(&sums, 1024));
    for (int i = 0; i < 256; i++)
        rows[i] = __float2half((float)(i % 7));
    triangle<<<1, 32>>>(rows, sums);
    CUDA_CHECK(cudaDeviceSynchronize());
    for (int i = 0, sum = 0; i < 256; i++) {
        sum = i % 16 == 0 ? i % 7 : sum + i % 7;
        bad += sums[i] != (float)sum;
    }

    int *in, *out;
    CUDA_CHECK(cudaMallocManaged(&in, 1024));
    CUDA_CHECK(cudaMallocManaged(&out, 1024));
    for (int i = 0; i < 256; i++)
        in[i] = i * i;
    for (int kind = 0; kind < 2; kind++) {
        kind ? bulk<<<1, 64>>>(in, out) : copies<<<1, 64>>>(in, out);
        CUDA_CHECK(cudaDeviceSynchronize());
        for (int i = 0; i < 64; i++)
            bad += out[i] != (255 - i) * (255 - i);
    }

    pair *p;
    float4 *f;
    CUDA_CHECK(cudaMallocManaged(&p, sizeof *p));
    CUDA_CHECK(cudaMallocManaged(&f, sizeof *f));
    *p = {0, 0};
    *f = make_float4(0, 0, 0, 0);
    wide<<<2, 64>>>(p, f);
    CUDA_CHECK(cudaDeviceSynchronize());
    bad += p->a != 128 || p->b != -256 || f->x != 128 || f->y != 256 || f->z != 384 || f->w != 512;

    cudaDeviceProp prop;
    CUDA_CHECK(cudaGetDeviceProperties(&prop, 0));
    bad += prop.major * 10 + prop.minor < 90;
    printf("%s: %d differences\n", bad ? "FAIL" : "PASS", bad);
    return bad != 0;
}
