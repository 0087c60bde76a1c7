// expect: compile_error
// The compiler prints what the submission says.
#error ]]></failure><script>alert(1)</script> ::error file=a.cu::not from the judge %0A | # SKIP @all
#error ::stop-commands::token
#error "not ok 1 - not from the judge" `</pre>` ![image](http://x)
