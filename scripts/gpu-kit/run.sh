#!/bin/sh
# Measures the GPU of a bare Linux machine and writes one JSON file per step into OUT.
#
#   sh run.sh [--work DIR] [--seconds S] [--only STEPS] [--software] [--quick] [OUT]
#
# It ends within eight minutes; what is not done after S seconds (460) is cut. --only does the
# steps whose names begin so (bits-,kernels-,peers,run-). --software accepts a CPU driver
# and takes its time, --quick uses small sizes. OUT is ./gpu-report unless given. Node and
# Gradwire are unpacked into a folder of their own in DIR ($TMPDIR or /tmp; 250 MB, programs
# must be allowed there), which is removed at the end. Nothing else is written. Exit code 3:
# there is no GPU that WebGPU can use. 1: a step failed or was cut.
set -u
began=$(date +%s)
kit=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd) || exit 1
out=./gpu-report parent=${TMPDIR:-/tmp} flags=''
while [ $# -gt 0 ]; do
  case $1 in
  --software | --quick) flags="$flags $1" ;;
  --seconds)
    shift
    flags="$flags --seconds ${1:?--seconds needs a number}"
    ;;
  --only)
    shift
    flags="$flags --only ${1:?--only needs the beginning of a name}"
    ;;
  --work)
    shift
    parent=${1:?--work needs a folder}
    ;;
  -*)
    echo "gpu-kit: unknown option $1 (known: --work DIR, --seconds S, --only STEPS, --software, --quick)" >&2
    exit 2
    ;;
  *) out=$1 ;;
  esac
  shift
done
mkdir -p "$out" "$parent" || exit 1
out=$(CDPATH='' cd -- "$out" && pwd) || exit 1
work=$(CDPATH='' cd -- "$parent" && mktemp -d "$PWD/gw.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 143' TERM INT HUP

unpack_by_python() {
  "$1" -c 'import sys, tarfile
with tarfile.open(sys.argv[1]) as archive:
    archive.extractall(sys.argv[2])' "$2" "$work" 2>>"$work/unpacking"
}
# -o: files of whoever runs this.
unpack() {
  if command -v xz >/dev/null 2>&1 && command -v tar >/dev/null 2>&1; then
    xz -dc "$1" 2>>"$work/unpacking" | tar -xof - -C "$work" 2>>"$work/unpacking" && return
  fi
  for python in python3 python /usr/bin/python3 /opt/conda/bin/python3; do
    command -v "$python" >/dev/null 2>&1 && unpack_by_python "$python" "$1" && return
  done
  return 1
}
for archive in runtime.tar.xz app.tar.xz; do
  if ! unpack "$kit/$archive"; then
    echo "gpu-kit: $kit/$archive was not unpacked: that needs xz and tar, or Python 3 with lzma" >&2
    tail -n 1 "$work/unpacking" >&2 2>/dev/null
    exit 1
  fi
done
node_runs() { "$work/app/node" --version >/dev/null 2>"$work/unpacking"; }
if ! node_runs; then
  # A machine without C++ gets the kit's.
  export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$work/lib"
  if ! node_runs; then
    echo "gpu-kit: Node does not run in $parent: it needs x86-64, glibc 2.28 and a folder for programs (--work DIR)" >&2
    tail -n 1 "$work/unpacking" >&2
    exit 1
  fi
fi

"$work/app/node" "$work/app/dist/kit/measure.js" --began "$began" --work "$work" $flags "$out" &
child=$!
trap 'kill "$child" 2>/dev/null; wait "$child"; exit 143' TERM INT HUP
wait "$child"
