// expect: accepted
__global__ void double_all(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] + in[i];
}

extern "C" void twice(const int *in, int *out, int n, cudaStream_t stream)
{
    if (n > 0)
        double_all<<<(n + 255) / 256, 256, 0, stream>>>(in, out, n);
}
