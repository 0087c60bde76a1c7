// expect: accepted
__global__ void find_first(const int *in, int *place, int n)
{
    int best = 0;
    for (int i = 1; i < n; i++)
        if (in[i] >= in[best])
            best = i;
    *place = best;
}

extern "C" void argmax(const int *in, int *place, int n, cudaStream_t stream)
{
    find_first<<<1, 1, 0, stream>>>(in, place, n);
}
