// expect: accepted
// 256 threads take the tile in four chunks of 1024 items and carry the sum of the chunks before in a
// register. Vectors are dealt out so that neighbours have neighbours.
__global__ void scan_tile(const int4 *in, int4 *out, const int *tail_in, int *tail_out, int n)
{
    __shared__ int sums[8];
    const int t = threadIdx.x, lane = t & 31, warp = t >> 5;
    int carry = 0;
    for (int chunk = 0; chunk < 4; ++chunk) {
        const int vector = blockIdx.x * 1024 + chunk * 256 + t;
        const int whole = n / 4, left = n % 4;
        int item[4] = {};
        if (vector < whole) {
            const int4 v = in[vector];
            item[0] = v.x, item[1] = v.y, item[2] = v.z, item[3] = v.w;
        } else if (vector == whole) {
            for (int k = 0; k < left; ++k)
                item[k] = tail_in[4 * vector + k];
        }
        const int own = item[0] + item[1] + item[2] + item[3];
        int sum = own;
        for (int d = 1; d < 32; d *= 2) {
            const int below = __shfl_up_sync(~0u, sum, d);
            sum += lane >= d ? below : 0;
        }
        if (lane == 31)
            sums[warp] = sum;
        __syncthreads();
        int running = carry + sum - own;
        for (int w = 0; w < 8; ++w) {
            running += w < warp ? sums[w] : 0;
            carry += sums[w];
        }
        __syncthreads();
        for (int k = 0; k < 4; ++k)
            item[k] = running += item[k];
        if (vector < whole)
            out[vector] = make_int4(item[0], item[1], item[2], item[3]);
        else if (vector == whole)
            for (int k = 0; k < left; ++k)
                tail_out[4 * vector + k] = item[k];
    }
}

extern "C" void vectorised_scan(const int *in, int *out, int n, cudaStream_t stream)
{
    if (n > 0)
        scan_tile<<<(n - 1) / 4096 + 1, 256, 0, stream>>>(
            reinterpret_cast<const int4 *>(in), reinterpret_cast<int4 *>(out), in, out, n);
}
