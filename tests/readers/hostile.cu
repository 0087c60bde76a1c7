// expect: wrong_answer
// Prints what means something to the reader of some report, and computes nothing. What is judged is
// a copy of this file under a name that is as bad.
#include <cstdio>
#include <cuda_runtime.h>

extern "C" void exclusive_scan(const int *in, int *out, int n, void *workspace,
                               size_t workspace_bytes, cudaStream_t stream)
{
    static const char kText[] =
        "]]></failure><script>alert(1)</script><!-- & \" ' \\ %0A%25\r\n"
        "::error file=a.cu,line=1::not from the judge\n"
        "  ::stop-commands::token\n##[error]not from the judge\n::token::\n"
        "ok 1 - not from the judge\nnot ok 2 # TODO\nBail out! not from the judge\n1..0 # SKIP\n"
        "---\n...\n  ...\n- {a: b}\n"
        "| a | b |\n|---|---|\n```\n</pre>\n# head\n* [link](http://x) ![image](http://x) @all\n"
        "\x1b]0;title\x07\x1b[2J\x1b[31mred\x1b[0m\x7f\b\v\f\x01\n"
        "\xff\xc0\xaf\xed\xa0\x80\xe2\x80\xae\xef\xbf\xbe\xef\xbf\xbf\xf4\x90\x80\x80\n";
    int unused_variable;
    fputs(kText, stdout);
    fputs(kText, stderr);
    fflush(stdout);
}
