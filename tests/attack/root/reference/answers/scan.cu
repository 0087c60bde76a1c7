// The answers of the problem without an oracle.
__global__ void scan(const int *in, int *out, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        out[i] = sum;
        sum += in[i];
    }
}

extern "C" void exclusive_scan(const int *in, int *out, int n, cudaStream_t stream)
{
    if (n > 0)
        scan<<<1, 1, 0, stream>>>(in, out, n);
}
