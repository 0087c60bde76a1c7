// What the programs on CUB's block- and warp-wide primitives share: a kernel per primitive, one
// tile per block, the whole array in tiles; the last tile is padded by the kernel.
#pragma once

#include "common.cuh"

inline int tiles_of(int n, int tile)
{
    return (n + tile - 1) / tile;
}

// Sizes up to 4097 are enough for what blocks do alone, with one large one.
inline std::vector<int> block_sizes()
{
    return sizes(65537);
}
