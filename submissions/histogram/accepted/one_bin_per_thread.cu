// expect: accepted
// No atomics at all: a block per piece, and thread v counts the bytes v in it. Slow, and right; a
// second kernel adds up the pieces.

#include <cuda_runtime.h>

constexpr int kPiece = 1024;

__global__ void count_piece(const unsigned char *in, int *piece_counts, int n)
{
    __shared__ unsigned char bytes[kPiece];
    const unsigned begin = blockIdx.x * unsigned{kPiece};
    const int length = min(unsigned{kPiece}, unsigned(n) - begin);
    for (int i = threadIdx.x; i < length; i += blockDim.x)
        bytes[i] = in[begin + i];
    __syncthreads();
    int count = 0;
    for (int i = 0; i < length; i++)
        count += bytes[i] == threadIdx.x;
    piece_counts[blockIdx.x * 256 + threadIdx.x] = count;
}

__global__ void add_pieces(const int *piece_counts, int *counts, int pieces)
{
    int sum = 0;
    for (int p = 0; p < pieces; p++)
        sum += piece_counts[p * 256 + threadIdx.x];
    counts[threadIdx.x] = sum;
}

extern "C" void histogram(const unsigned char *in, int *counts, int n, cudaStream_t stream)
{
    const int pieces = n / kPiece + (n % kPiece != 0);
    int *piece_counts = nullptr;
    cudaMallocAsync(&piece_counts, sizeof(int) * 256 * (pieces + 1), stream);
    if (pieces > 0)
        count_piece<<<pieces, 256, 0, stream>>>(in, piece_counts, n);
    add_pieces<<<1, 256, 0, stream>>>(piece_counts, counts, pieces);
    cudaFreeAsync(piece_counts, stream);
}
