set terminal svg size 900,520 noenhanced background "white"
set output "curve.svg"
set title "multi-block-scan on NVIDIA H200"
set logscale x 2
set xlabel "n"
set format x "%.0b %B"
set ylabel "GB/s: bytes that the problem moves, over time"
set yrange [0:*]
set grid
set key left top
$d1 << END
65536 134.3
1048576 1369.0
16777216 3705.2
134217728 4180.5
END
$d2 << END
65536 83.2
1048576 978.1
16777216 3530.7
134217728 4175.8
END
$d3 << END
65536 79.9
1048576 876.7
16777216 2251.4
134217728 2683.9
END
$d4 << END
65536 61.6
1048576 676.5
16777216 2283.2
134217728 2974.2
END
$d5 << END
65536 46.4
1048576 607.5
16777216 2000.2
134217728 2443.1
END
plot $d1 using 1:2 with linespoints linewidth 2 title "copy", $d2 using 1:2 with linespoints linewidth 2 title "look_back_bulk.cu", $d3 using 1:2 with linespoints linewidth 2 title "look_back.cu", $d4 using 1:2 with linespoints linewidth 2 title "scan_cub.cu", $d5 using 1:2 with linespoints linewidth 2 title "three_kernels.cu"
