#!/bin/sh
# `judge grade --slurm` with a real Slurm on this machine: munged, slurmctld and slurmd are started
# here, without an init system, and ended again. The cards are made up (a gres needs a character
# device and no more; the driver is the fake one of tests/judge/gpu), the judgings are not.
# usage: slurm.sh SOURCE_ROOT BUILD_ROOT FAKE_NVML CUDART [COUNT [CHUNK [all-compile]]]
set -u
root=$1 build=$2 nvml=$3 cudart=$4 count=${5:-40} chunk=${6:-8} kind=${7:-}
skip() {
    echo "1..0 # skipped: $1"
    exit 77
}
command -v nvcc >/dev/null || PATH=${CUDA_HOME:-/usr/local/cuda}/bin:$PATH
command -v nvcc >/dev/null || skip "no nvcc in PATH, CUDA_HOME or /usr/local/cuda"
PATH=$PATH:/usr/sbin
for program in munged slurmctld slurmd sbatch squeue; do
    command -v $program >/dev/null || skip "no $program (Debian: slurm-wlm munge)"
done
[ "$(id -u)" = 0 ] || skip "slurmd needs root"
judge=$build/bin/judge
top=$(mktemp -d "${TMPDIR:-/tmp}/slurm.XXXXXX") || exit 1
cd "$top" || exit 1

# ---- a cluster of one machine ----

stop() {
    for name in slurmd slurmctld munged; do
        [ -s "$top/$name.pid" ] && kill "$(cat "$top/$name.pid")" 2>/dev/null
    done
    sleep 0.5
    rm -rf "$top"
}
trap stop EXIT
trap 'exit 1' INT TERM HUP

chmod 755 "$top"
mkdir munge state spool cards
dd if=/dev/urandom of=munge/key bs=128 count=1 2>/dev/null
chmod 600 munge/key
chown -R munge munge
chmod 755 munge
host=$(hostname -s)
# Ports that nobody else here has: this test may run beside itself.
port=$((20000 + $$ % 20000 * 2))
cat >slurm.conf <<CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
AuthType=auth/munge
AuthInfo=socket=$top/munge/socket
CredType=cred/munge
SlurmUser=root
StateSaveLocation=$top/state
SlurmdSpoolDir=$top/spool
SlurmctldPidFile=$top/slurmctld.pid
SlurmdPidFile=$top/slurmd.pid
SlurmctldLogFile=$top/slurmctld.log
SlurmdLogFile=$top/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,bf_interval=1
MinJobAge=10
MpiDefault=none
ReturnToService=2
GresTypes=gpu
NodeName=$host NodeAddr=127.0.0.1 CPUs=2 RealMemory=1000 Gres=gpu:2
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
CONF
cat >gres.conf <<CONF
NodeName=$host Name=gpu File=/dev/null
NodeName=$host Name=gpu File=/dev/zero
CONF
printf 'CgroupPlugin=cgroup/v1\n' >cgroup.conf
export SLURM_CONF="$top/slurm.conf"
setpriv --reuid munge --regid munge --clear-groups munged --force --key-file "$top/munge/key" \
    --socket "$top/munge/socket" --pid-file "$top/munge/pid" --log-file "$top/munge/log" \
    --seed-file "$top/munge/seed" || { cat munge/log; exit 1; }
ln -s munge/pid munged.pid
slurmctld || exit 1
slurmd || exit 1
for _ in $(seq 200); do
    [ "$(sinfo -h -o %t 2>/dev/null)" = idle ] && break
    sleep 0.2
done
[ "$(sinfo -h -o %t)" = idle ] || { sinfo -R; tail -n 20 slurmctld.log slurmd.log; exit 1; }

# ---- a class ----

export SCANJUDGE_ROOT="$root" SCANJUDGE_CACHE="$top/cache" SCANJUDGE_COMMAND=judge LC_ALL=C
export SCANJUDGE_NVML="$nvml" SCANJUDGE_GPU_CUDART="$cudart" SCANJUDGE_LOCKS="$top/cards"
export FAKE_NVML='GPU-10;Fake One;9.0;16000|GPU-20;Fake Two;9.0;16000'
unset SCANJUDGE_DEVICE
. "$root/tests/e2e/tap.sh"

# Most of them end in the preprocessor, where nothing else is asked for: what is looked at here is
# the way, not nvcc.
n=0
while [ $n -lt "$count" ]; do
    folder="class of '26/student $n"
    mkdir -p "$folder"
    {
        if [ -n "$kind" ] || [ $((n % 4)) = 0 ]; then
            cat "$root/submissions/warp-scan/accepted/textbook.cu"
        else
            echo "#error copy $n"
        fi
        printf '\n// copy %s\n' "$n"
    } >"$folder/warp-scan.cu"
    n=$((n + 1))
done
class="class of '26"
results="$class-results"
grade() { call grade "$class" --device gpu --no-timing "$@"; }
submit() { grade --slurm --chunk "$chunk" --jobs 1 "$@"; }
records() {
    lines=$(cat "$@" 2>/dev/null | grep -c '^{"key"')
    echo "${lines:-0}"
}
array() { sed -n 's/.* of job \([0-9]*\), .*/\1/p' out; }
# Waits until there is no job; a stuck one ends the test.
wait_for_jobs() {
    for _ in $(seq 6000); do
        [ -z "$(squeue -h)" ] && return
        sleep 0.1
    done
    squeue
    tail -n 20 slurmctld.log slurmd.log
}

tasks=$(((count + chunk - 1) / chunk))
submit --sbatch=--hold
first=$(array)
check_status 'an array is submitted' 0
check_says 'a task for each chunk' "$count judgings in $tasks tasks of job $first, on a card each"
run=$(ls -d "$results"/slurm/*)
# One task finds its results spoilt, and fails.
printf 'spoilt\n' >"$run/2/results.jsonl"
submit
check_says 'what is under way is not submitted again' "$count more in tasks that are in the queue"
scontrol release "$first"
# And one is killed while it judges.
for _ in $(seq 3000); do
    [ "$(records "$run/1/results.jsonl")" -ge 1 ] && break
    sleep 0.02
done
scancel --signal=KILL --full "${first}_1"
scontrol release "$((first + 1))" # the job that gathers was held, too
wait_for_jobs
check 'it was killed in the middle' "$(k=$(records "$run/1/results.jsonl"); [ "$k" -ge 1 ] && [ "$k" -lt "$chunk" ] || echo "$k records of $chunk")"
check 'the spoilt one says why it failed' "$(grep -q 'is not a file of results' "$run/2.log" || tail "$run"/*.log)"
have=$(records "$results/results.jsonl")
check_count 'what the tasks have is gathered' "$(records "$run"/*/results.jsonl)" "$have"
check 'and is not everything' "$([ "$have" -le $((count - chunk)) ] || echo "$have of $count")"
check 'the job that gathers says so' "$(grep -q "$((count - have)) not judged yet" "$run/merge.log" || cat "$run/merge.log")"
submit
check_says 'only what is missing is submitted again' "$((count - have)) judging"
wait_for_jobs
grade --merge
check_status 'then everything has a result' 0
check_says 'of every student' "$count submissions of $count students"
check_count 'each once' "$count" "$(records "$results/results.jsonl")"
check_count 'under a key of its own' "$count" "$(sed -n 's/^{"key": "\([0-9a-f]*\)".*/\1/p' "$results/results.jsonl" | sort -u | wc -l)"
check_count 'no task judged what another one had' "$count" "$(cat "$results"/slurm/*/*/results.jsonl | sed -n 's/^{"key": "\([0-9a-f]*\)".*/\1/p' | wc -l)"
check_count 'on both cards' 2 "$(sed -n 's/.*"card":"\([^"]*\)".*/\1/p' "$results/grades.jsonl" | sort -u | wc -l)"
if [ -n "$kind" ]; then
    check_count 'all accepted' "$count" "$(grep -c '"verdict":"accepted"' "$results/grades.jsonl")"
else
    check_count 'right ones accepted' "$(((count + 3) / 4))" "$(grep -c '"verdict":"accepted"' "$results/grades.jsonl")"
fi
submit
check_says 'then nothing is missing' 'nothing is missing'
done_testing
