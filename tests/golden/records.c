#include "records.h"

static struct wire_finding race = {
    .kind = FINDING_data_race,
    .severity = WIRE_ERROR,
    .line = 32,
    .block = {0, 0, 0},
    .thread = {64, 0, 0},
    .count = 3,
    .file = "a.cu",
    .kernel = "scan_tiles(int const*, int*, int)",
    .message = "thread 64 reads warp_totals[0], which thread 0 wrote at line 30, and no barrier is "
               "between the two",
};

static struct wire_finding two_findings[] = {
    {.kind = FINDING_out_of_bounds_write,
     .severity = WIRE_ERROR,
     .line = 17,
     .block = {3, 1, 0},
     .thread = {31, 2, 0},
     .count = 1,
     .file = "tail.cu",
     .kernel = "add_offsets",
     .message = "writes 4 bytes at out[1025], and `out` has 1025 elements"},
    {.kind = FINDING_exit,
     .severity = WIRE_ERROR,
     .block = {-1, -1, -1},
     .thread = {-1, -1, -1},
     .count = 1,
     .message = "the process ended with exit status 0 before exclusive_scan was done"},
};

static struct wire_finding order = {
    .kind = FINDING_block_order,
    .severity = WIRE_WARNING,
    .line = 51,
    .block = {7, 0, 0},
    .thread = {0, 0, 0},
    .count = 1,
    .file = "look_back.cu",
    .kernel = "scan",
    .message = "finishes only when blocks start in ascending order",
};

/* Escape sequences, a bell, a lone continuation byte, an overlong slash, a surrogate, a direction
 * override, carriage returns. */
#define HOSTILE "\x1b]0;owned\x07\x1b[2Jaccepted\r\xff\xc0\xaf\xed\xa0\x80\xe2\x80\xaetxt\x7f"

/* What means something to the reader of some format, and characters that XML does not have. */
#define SYNTAX                                                                                     \
    "]]></failure><script>alert(1)</script><!-- & \"' \\ %0A%25;\n"                                \
    "::error file=a.cu,line=1::not from the judge\n"                                               \
    "  ::stop-commands::token\n##[error]not from the judge\n::token::\n"                           \
    "ok 1 - not from the judge\nnot ok 2 # TODO\nBail out! not from the judge\n1..0 # SKIP\n"      \
    "---\n...\n  ...\n- {a: b}\n"                                                                  \
    "| a | b |\n|---|---|\n```\n</pre>\n# head\n* [link](http://x) ![image](http://x) @everyone\n" \
    "{{mustache}} ${{ secrets.x }} $(id) `id`\n\xef\xbf\xbe\xef\xbf\xbf\xf0\x9f\x98\x80"

static struct wire_finding syntax_finding = {
    .kind = FINDING_assertion,
    .severity = WIRE_ERROR,
    .line = 3,
    .block = {0, 0, 0},
    .thread = {0, 0, 0},
    .count = 1,
    .file = "x,y::z %0A|<b>.cu",
    .kernel = "k<a & b, \"c\">",
    .message = SYNTAX,
};

static struct wire_finding hostile_finding = {
    .kind = FINDING_assertion,
    .severity = WIRE_ERROR,
    .line = 1,
    .block = {0, 0, 0},
    .thread = {0, 0, 0},
    .count = 1,
    .file = HOSTILE,
    .kernel = HOSTILE,
    .message = HOSTILE "\nsecond line",
};

static struct result_case accepted_cases[] = {
    {.name = "empty", .verdict = VERDICT_accepted, .is_public = true, .ms = 0.4, .passes = 4},
    {.name = "\xe5\x9d\x97 1024",
     .verdict = VERDICT_accepted,
     .ms = 12.3456,
     .passes = 1,
     .has_counters = true,
     .counters = {{[COUNTER_global_bytes_read] = 8200,
                   [COUNTER_global_sectors] = 1030,
                   [COUNTER_barriers] = 6,
                   [COUNTER_instructions] = 91000}}},
};

static const char *not_judged[] = {"n=2047", "n=2048",       "n=2049",     "n=4095",
                                   "n=4096", "n=4097",       "n=8191",     "n=8192",
                                   "n=8193", "wraps around", "many blocks"};

static struct result_case wrong_cases[] = {
    {.name = "n=1", .verdict = VERDICT_accepted, .is_public = true, .ms = 0.9, .passes = 4},
    {.name = "n=1025",
     .verdict = VERDICT_wrong_answer,
     .is_public = true,
     .ms = 1.2,
     .passes = 2,
     .failing_schedule = "interleaved",
     .failing = {true, "interleaved", 17, true, true, 2, "late"},
     .mismatch = {"out", 1024, 1, "4608", "0"},
     .diagnosis =
         "block carry lost: wrong from index 1024 on, and every wrong value is short by the "
         "same amount",
     .findings = &race,
     .finding_count = 1,
     .has_counters = true,
     .counters = {{[COUNTER_global_bytes_read] = 8200, [COUNTER_instructions] = 91000}},
     .reproduce = "./judge.sh run multi-block-scan a.cu --case n=1025 --seed 1 "
                  "--schedule interleaved:17"},
    {.name = "two levels, n=65537",
     .verdict = VERDICT_time_limit_exceeded,
     .ms = 10001,
     .passes = 1,
     .reproduce = "./judge.sh run multi-block-scan a.cu --case 'two levels, n=65537' --seed 1"},
};

static struct result_case fault_cases[] = {
    {.name = "n=1025",
     .verdict = VERDICT_run_time_error,
     .ms = 3,
     .passes = 1,
     .failing_schedule = "in order",
     .findings = two_findings,
     .finding_count = 2,
     .stdout_text = "debug: 1\ndebug: 2\n",
     .reproduce = "./judge.sh run multi-block-scan tail.cu --case n=1025 --seed 5"},
};

static struct result_case warned_cases[] = {
    {.name = "n=2049",
     .verdict = VERDICT_accepted,
     .ms = 2,
     .passes = 4,
     .findings = &order,
     .finding_count = 1},
    {.name = "n=4096",
     .verdict = VERDICT_accepted,
     .ms = 2,
     .passes = 4,
     .findings = &order,
     .finding_count = 1},
};

static struct result_case hostile_cases[] = {
    {.name = "n=8",
     .verdict = VERDICT_run_time_error,
     .ms = 1,
     .passes = 1,
     .diagnosis = HOSTILE,
     .mismatch = {"out", 0, 8, "1", HOSTILE},
     .findings = &hostile_finding,
     .finding_count = 1,
     .stdout_text = HOSTILE "\n" HOSTILE,
     .stderr_text = "::error file=x::" HOSTILE "]]>",
     .reproduce = "./judge.sh run multi-block-scan '" HOSTILE "' --case n=8 --seed 9"},
};

static struct result_case syntax_cases[] = {
    {.name = SYNTAX,
     .verdict = VERDICT_wrong_answer,
     .ms = 1,
     .passes = 1,
     .diagnosis = SYNTAX,
     .mismatch = {SYNTAX, 0, 8, SYNTAX, SYNTAX},
     .findings = &syntax_finding,
     .finding_count = 1,
     .stdout_text = SYNTAX,
     .stderr_text = SYNTAX,
     .reproduce = "./judge.sh run multi-block-scan '" SYNTAX "' --case n=8 --seed 9"},
    {.name = SYNTAX, .verdict = VERDICT_accepted, .is_public = true, .ms = 1, .passes = 4},
};

/* A name twice, once as the second one is called; more of the same warning; every verdict that a
 * case may have. */
static struct wire_finding leak = {.kind = FINDING_leak,
                                   .severity = WIRE_WARNING,
                                   .block = {-1, -1, -1},
                                   .thread = {-1, -1, -1},
                                   .count = 1,
                                   .message = "a stream is left behind"};
static struct wire_finding elsewhere = {.kind = FINDING_misaligned,
                                        .severity = WIRE_ERROR,
                                        .line = 210,
                                        .block = {0, 0, 0},
                                        .thread = {1, 0, 0},
                                        .count = 1,
                                        .file = "block_scan.cuh",
                                        .message = "reads 16 bytes at in[1]"};
static struct result_case several_cases[] = {
    {.name = "n=8",
     .verdict = VERDICT_accepted,
     .is_public = true,
     .ms = 1,
     .passes = 4,
     .findings = &leak,
     .finding_count = 1},
    {.name = "n=8 (2)",
     .verdict = VERDICT_wrong_answer,
     .is_public = true,
     .ms = 1,
     .passes = 1,
     .mismatch = {"out", 3, 1, "6", "7"}},
    {.name = "n=8", .verdict = VERDICT_run_time_error, .passes = 1, .diagnosis = "it aborted"},
    {.name = "n=9",
     .verdict = VERDICT_run_time_error,
     .passes = 1,
     .findings = &elsewhere,
     .finding_count = 1},
    {.name = "n=10", .verdict = VERDICT_time_limit_exceeded, .ms = 10000, .passes = 1},
    {.name = "n=11", .verdict = VERDICT_memory_limit_exceeded, .passes = 1},
    {.name = "n=12", .verdict = VERDICT_output_limit_exceeded, .passes = 1},
    {.name = "n=13",
     .verdict = VERDICT_accepted,
     .ms = 1,
     .passes = 4,
     .findings = &leak,
     .finding_count = 1},
};

static struct result_case before_the_fault[] = {
    {.name = "n=8", .verdict = VERDICT_accepted, .is_public = true, .ms = 1, .passes = 4},
};

static const double timed[] = {0.209, 0.21, 0.22}, reference_timed[] = {0.05, 0.049, 0.051};

static struct wire_finding doubt = {.kind = FINDING_timer_mismatch,
                                    .severity = WIRE_WARNING,
                                    .block = {-1, -1, -1},
                                    .thread = {-1, -1, -1},
                                    .count = 1,
                                    .message = "the events say 0.02 ms, the judge's clock 0.21"};

static struct result_timing timings[] = {
    {.n = 16777216,
     .size = "n=16777216",
     .ms = 0.21,
     .reference_ms = 0.05,
     .ratio = 4.2,
     .ratio_low = 4.1,
     .ratio_high = 4.3,
     .gb_per_s = 640,
     .of_copy = 0.17,
     .copy_ms = 0.0357,
     .deviation_ms = 0.001,
     .bytes = 134217728,
     .rounds = 3,
     .samples = timed,
     .reference_samples = reference_timed,
     .findings = &doubt,
     .finding_count = 1,
     .has_clocks = true,
     .sm_mhz_low = 1755,
     .sm_mhz_high = 1980,
     .memory_mhz = 3201,
     .throttled = "power cap"},
    {.n = 65536,
     .size = "n=65536",
     .ms = 0.02,
     .reference_ms = 0.01,
     .ratio = 2,
     .ratio_low = 1.5,
     .ratio_high = 2.75,
     .gb_per_s = 26,
     .of_copy = 0.2,
     .copy_ms = 0.004,
     .too_noisy = true},
    {.n = 1 << 30, .size = "n=1073741824", .note = "the buffers do not fit on the card"},
};

static struct result_case costly_cases[] = {
    {.name = "n=1025", .verdict = VERDICT_accepted, .ms = 1, .passes = 4},
    {.name = "many blocks",
     .verdict = VERDICT_cost_limit_exceeded,
     .ms = 80,
     .passes = 1,
     .diagnosis = "reads and writes 16.05 bytes of global memory per element; at most 8.1 are "
                  "allowed: one pass reads and writes every element once\n"
                  "makes 40000000 additions of data; at most 25000000 are allowed: a scan by tiles "
                  "needs about two per element",
     .has_counters = true,
     .counters = {{[COUNTER_global_bytes_read] = 80250000,
                   [COUNTER_global_bytes_written] = 80250000,
                   [COUNTER_additions] = 40000000}},
     .reproduce = "./judge.sh run multi-block-scan a.cu --case 'many blocks' --seed 1"},
};

#define L(kernel, file, line, instructions, bytes, requests, sectors, passes)                      \
    {                                                                                              \
        kernel, file, line,                                                                        \
        {                                                                                          \
            {                                                                                      \
                [COUNTER_warp_instructions] = instructions,                                        \
                [COUNTER_instructions] = 32 * instructions, [COUNTER_global_bytes_read] = bytes,   \
                [COUNTER_global_requests] = requests, [COUNTER_global_sectors] = sectors,          \
                [COUNTER_shared_requests] = passes ? 20 : 0,                                       \
                [COUNTER_shared_bank_conflicts] = passes                                           \
            }                                                                                      \
        }                                                                                          \
    }

static const struct wire_profile profile = {
    .magic = WIRE_PROFILE_MAGIC,
    .kernel_count = 2,
    .file_count = 3,
    .line_count = 7,
    .dropped = 3,
    .kernels = {{"scan_tiles", 1, 3, 768}, {HOSTILE, 2, 1, 32}},
    .files = {"", "strided.cu", HOSTILE ".cuh"},
    .lines = {L(0, 1, 12, 1234567, 0, 0, 0, 0), L(0, 1, 13, 96, 3072, 24, 768, 0),
              L(0, 1, 2, 48, 0, 0, 0, 0), L(1, 1, 13, 4, 128, 1, 4, 0),
              L(0, 1, 15, 480, 0, 0, 0, 620), L(1, 2, 7, 3, 0, 0, 0, 0), L(1, 0, 0, 2, 0, 0, 0, 0)},
};

static struct result_case profiled_cases[] = {
    {.name = "n=768", .verdict = VERDICT_accepted, .ms = 1, .passes = 8, .profile = &profile},
    {.name = "n=769",
     .verdict = VERDICT_accepted,
     .ms = 1,
     .passes = 8,
     .profile_note = "the case did not come to its end, so nothing is known of its lines"},
};

const struct record RECORDS[] = {
    {"accepted",
     {.problem = "multi-block-scan",
      .submission = "good.cu",
      .device = "cpu",
      .verdict = VERDICT_accepted,
      .seed = 7,
      .compile = {.ok = true, .cached = true, .log = ""},
      .cases = accepted_cases,
      .case_count = 2,
      .timing = timings,
      .timing_count = sizeof timings / sizeof timings[0],
      .total_ms = 212.5},
     {0}},
    {"accepted_verbose",
     {.problem = "multi-block-scan",
      .submission = "good.cu",
      .device = "cpu",
      .verdict = VERDICT_accepted,
      .seed = 7,
      .compile = {.ok = true,
                  .ms = 870,
                  .log = "good.cu(3): warning: variable \"x\" was never used\n"},
      .cases = accepted_cases,
      .case_count = 2,
      .total_ms = 1212.5},
     {.verbose = true, .colour = true}},
    {"wrong_answer",
     {.problem = "multi-block-scan",
      .submission = "a.cu",
      .device = "cpu",
      .verdict = VERDICT_wrong_answer,
      .message = "2 cases ran out of time; 11 of the others were not run (--all-cases runs them)",
      .not_judged = not_judged,
      .not_judged_count = 11,
      .seed = 1,
      .compile = {.ok = true, .ms = 870.1234, .log = ""},
      .cases = wrong_cases,
      .case_count = 3,
      .total_ms = 11050},
     {.colour = true}},
    {"run_time_error",
     {.problem = "multi-block-scan",
      .submission = "homework/tail.cu",
      .device = "cpu",
      .verdict = VERDICT_run_time_error,
      .seed = 5,
      .compile = {.ok = true, .cached = true, .log = ""},
      .cases = fault_cases,
      .case_count = 1,
      .total_ms = 35},
     {0}},
    {"warning",
     {.problem = "multi-block-scan",
      .submission = "look_back.cu",
      .device = "cpu",
      .verdict = VERDICT_accepted,
      .seed = 5,
      .compile = {.ok = true, .cached = true, .log = ""},
      .cases = warned_cases,
      .case_count = 2,
      .total_ms = 35},
     {0}},
    {"cost_limit_exceeded",
     {.problem = "multi-block-scan",
      .submission = "a.cu",
      .device = "cpu",
      .verdict = VERDICT_cost_limit_exceeded,
      .seed = 1,
      .compile = {.ok = true, .ms = 900, .log = ""},
      .cases = costly_cases,
      .case_count = 2,
      .total_ms = 1000},
     {0}},
    {"profile",
     {.problem = "multi-block-scan",
      .submission = "homework/strided.cu",
      .device = "cpu",
      .verdict = VERDICT_accepted,
      .source = "// " HOSTILE "\nconstexpr int kThreads = 256;\n\n\n\n\n\n\n\n\n"
                "__global__ void scan_tiles(const int *in)\n{\n\tint x = in[threadIdx.x * 32];\n"
                "    __syncthreads();\n    s[threadIdx.x * 32] = x; // " HOSTILE "\n}\n",
      .seed = 1,
      .compile = {.ok = true, .ms = 900, .log = ""},
      .cases = profiled_cases,
      .case_count = 2,
      .total_ms = 1000},
     {0}},
    {"compile_error",
     {.problem = "multi-block-scan",
      .submission = "a.cu",
      .device = "cpu",
      .verdict = VERDICT_compile_error,
      .message = "a.cu(12): error: identifier \"blockIdy\" is undefined",
      .seed = 1,
      .compile = {.ok = false,
                  .ms = 400,
                  .log = "a.cu(12): error: identifier \"blockIdy\" is undefined\n"
                         "\tint i = blockIdy.x;\n1 error detected\n"},
      .total_ms = 410},
     {0}},
    {"judge_error",
     {.problem = "multi-block-scan",
      .submission = "a.cu",
      .device = "cpu",
      .verdict = VERDICT_judge_error,
      .message = "cannot create a buffer of 80000000 bytes: Cannot allocate memory",
      .seed = 1,
      .compile = {.ok = true, .ms = 400, .log = ""},
      .total_ms = 410},
     {0}},
    {"several_verdicts",
     {.problem = "multi-block-scan",
      .submission = "/work/class/alice/../bob/./a.b.cu",
      .device = "cpu",
      .verdict = VERDICT_wrong_answer,
      .seed = 1,
      .compile = {.ok = true,
                  .ms = 900,
                  .log = "a.b.cu(3): warning #177-D: variable \"x\" was declared but never "
                         "referenced\n      int x;\n          ^\n\n"
                         "cub.cuh(9): warning #1-D: last line of file ends without a newline\n"},
      .cases = several_cases,
      .case_count = sizeof several_cases / sizeof several_cases[0],
      .not_judged = not_judged,
      .not_judged_count = 2,
      .total_ms = 11000},
     {.here = "/work/elsewhere", .root = "/work/class"}},
    {"signature",
     {.problem = "multi-block-scan",
      .submission = "alice/a.cu",
      .device = "cpu",
      .verdict = VERDICT_compile_error,
      .message = "a.cu(4): error: the entry point does not have the expected signature",
      .seed = 1,
      .compile = {.ok = false,
                  .ms = 400,
                  .log = "a.cu(4): error: the entry point does not have the expected signature\n"
                         "  expected: extern \"C\" void exclusive_scan(const int *in)\n"
                         "  to change: it has to return void\n\n"
                         "a.cu:7:12: warning: unused parameter\n    7 | int x\n      |     ^\n"
                         "ptxas error   : Entry function 'k' uses too much shared data\n"
                         "a.cu: at the end of the file: error: expected a \"}\"\n\n"
                         "2 errors detected in the compilation of \"a.cu\".\n"},
      .total_ms = 410},
     {.here = "/work/class", .root = "/work/class"}},
    {"no_card",
     {.problem = "multi-block-scan",
      .submission = "a.cu",
      .device = "gpu",
      .verdict = VERDICT_judge_error,
      .skipped = "there is no card: no NVIDIA driver",
      .compile = {.log = ""}},
     {0}},
    {"fault_of_the_judge",
     {.problem = "multi-block-scan",
      .submission = "a.cu",
      .device = "cpu",
      .verdict = VERDICT_judge_error,
      .message = "the runner refused a request: no memory",
      .seed = 1,
      .compile = {.ok = true, .ms = 400, .log = ""},
      .cases = before_the_fault,
      .case_count = 1,
      .total_ms = 410},
     {0}},
    {"syntax",
     {.problem = "multi-block-scan",
      .submission = "x,y::z %0A|<b>.cu",
      .device = "cpu",
      .verdict = VERDICT_wrong_answer,
      .message = SYNTAX,
      .seed = 1,
      .compile = {.ok = true, .ms = 1, .log = SYNTAX},
      .cases = syntax_cases,
      .case_count = 2,
      .not_judged = (const char *[]){SYNTAX},
      .not_judged_count = 1,
      .total_ms = 10},
     {.verbose = true}},
    {"syntax_compile_error",
     {.problem = "multi-block-scan",
      .submission = "a.cu",
      .device = "cpu",
      .verdict = VERDICT_compile_error,
      .message = "a.cu(1): error: #error " SYNTAX,
      .seed = 1,
      .compile = {.ok = false, .ms = 1, .log = "a.cu(1): error: #error " SYNTAX "\n" HOSTILE},
      .total_ms = 10},
     {0}},
    {"hostile",
     {.problem = "multi-block-scan",
      .submission = HOSTILE ".cu",
      .device = "cpu",
      .verdict = VERDICT_run_time_error,
      .message = HOSTILE,
      .seed = 9007199254740991,
      .compile = {.ok = true, .ms = 1, .log = HOSTILE},
      .cases = hostile_cases,
      .case_count = 1,
      .total_ms = 10},
     {.verbose = true}},
};

const unsigned RECORD_COUNT = sizeof RECORDS / sizeof RECORDS[0];
