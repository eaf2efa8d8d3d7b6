#!/bin/sh
# Measures the GPU of a bare Linux machine and writes one JSON file per step into OUT.
#
#   sh run.sh [--software] [--quick] [--work DIR] [OUT]
#
# --software accepts a CPU driver, --quick uses small sizes. OUT is ./gpu-report unless given.
# Node and Gradwire are unpacked into the folder of --work, OUT/work unless given, and removed
# at the end. Nothing else is written. Exit code 3: there is no GPU that WebGPU can use.
set -u
kit=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd) || exit 1
out=./gpu-report work='' flags=''
while [ $# -gt 0 ]; do
  case $1 in
  --software | --quick) flags="$flags $1" ;;
  --work)
    shift
    work=${1:?--work needs a folder}
    ;;
  -*)
    echo "gpu-kit: unknown option $1 (known: --software, --quick, --work DIR)" >&2
    exit 2
    ;;
  *) out=$1 ;;
  esac
  shift
done
mkdir -p "$out" && out=$(CDPATH='' cd -- "$out" && pwd) || exit 1
mkdir -p "${work:=$out/work}" && work=$(CDPATH='' cd -- "$work" && mktemp -d "$PWD/k.XXXXXX") || exit 1
trap 'rm -rf "$work"; rmdir "$out/work" 2>/dev/null' EXIT
trap 'exit 143' TERM INT HUP

unpack() {
  if command -v xz >/dev/null 2>&1; then
    xz -dc "$1" | tar -xf - -C "$work" && return
  fi
  python3 -c 'import sys, tarfile
with tarfile.open(sys.argv[1]) as archive:
    archive.extractall(sys.argv[2], filter="fully_trusted")' "$1" "$work"
}
for archive in runtime.tar.xz app.tar.xz; do
  if ! unpack "$kit/$archive"; then
    echo "gpu-kit: $archive was not unpacked: that needs xz and tar, or Python 3.12" >&2
    exit 1
  fi
done

# HOME and TMPDIR: caches of drivers and of Python must not leave the folder.
mkdir "$work/h" "$work/t"
HOME=$work/h TMPDIR=$work/t XDG_CACHE_HOME=$work/t GRADWIRE_HOME=$work/g \
  PYTHONDONTWRITEBYTECODE=1 __GL_SHADER_DISK_CACHE_PATH=$work/t \
  LD_LIBRARY_PATH="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$work/lib" \
  "$work/app/node" "$work/app/kit/measure.js" --work "$work" $flags "$out" &
child=$!
trap 'kill "$child" 2>/dev/null; wait "$child"; exit 143' TERM INT HUP
wait "$child"
