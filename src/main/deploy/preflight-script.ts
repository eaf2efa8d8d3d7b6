/**
 * The script that inspects a machine: POSIX shell that only reads. It prints lines
 * `key=value`; what a machine does not know is missing.
 *
 * A tool may hang, as `nvidia-smi` does with a broken driver, so each has its own limit of
 * `$limit` seconds (default 10) and is ended with it. A process that cannot even be killed
 * keeps its pipe open, so a tool's output is read up to a last line, not to the pipe's end.
 * Where there is no `timeout`, the script looks every second whether the tool has ended.
 *
 * NVIDIA's GPUs are those that `nvidia-smi` lists; where it fails, those of the PCI bus.
 * Other users' work on them is known from `nvidia-smi`, too; that of compute programs on
 * AMD's from the kernel (`/sys/class/kfd`, as `rocm-smi --showpids` reads it): a process
 * holds memory (`vram_GPU`) on the GPUs that it uses. What draws there is not listed.
 */

import { BEFORE_NODE, LEFT_OUT } from './node-environment.ts';

/** Programs that deploying needs. */
const NEEDED_PROGRAMS = ['tar', 'gzip', 'sha256sum'];

/**
 * The folder of drivers that the Vulkan loader reads, below a directory of configuration or
 * data.
 */
const MANIFESTS = 'vulkan/icd.d';

export const INSPECTION = String.raw`
[ -n "$limit" ] || limit=10
say() { printf '%s=%s\n' "$1" "$2"; }
has() { command -v "$1" >/dev/null 2>&1; }
timed=0
timeout -s KILL 5 true >/dev/null 2>&1 && timed=1
# Prints what a tool prints. Its exit code is the tool's; 137 if it took too long.
bounded() {
  {
    if [ "$timed" = 1 ]; then
      timeout -s KILL "$limit" "$@" </dev/null 2>/dev/null
      code=$?
    else
      "$@" </dev/null 2>/dev/null &
      tool=$!
      waited=0
      while sleep 1; kill -s 0 "$tool" 2>/dev/null && [ "$waited" -lt "$limit" ]; do
        waited=$((waited + 1))
      done
      if kill -s KILL "$tool" 2>/dev/null; then code=137; else wait "$tool"; code=$?; fi
    fi
    printf '\ngradwire-end %s\n' "$code"
  } | while IFS= read -r line; do
    case "$line" in
      'gradwire-end '*) exit "$(printf '%s' "$line" | sed 's/.* //')";;
      ?*) printf '%s\n' "$line";;
    esac
  done
}
say hostname "$(uname -n)"
say system "$(uname -s)"
say kernel "$(uname -r)"
say machine "$(uname -m)"
if has getconf && getconf GNU_LIBC_VERSION >/dev/null 2>&1; then
  say libc glibc
  say glibc "$(getconf GNU_LIBC_VERSION | sed 's/^glibc *//')"
elif ls /lib/ld-musl-* >/dev/null 2>&1; then say libc musl; fi
has getconf && say cores "$(getconf _NPROCESSORS_ONLN 2>/dev/null)"
[ -r /proc/meminfo ] && say memory "$(sed -n 's/^MemTotal: *\([0-9]*\) kB/\1/p' /proc/meminfo)"
say home "$HOME"
# A device's name may have blanks: what is available comes before the percentage.
available() { tail -n 1 | awk '{ for (i = 4; i <= NF; i++)
  if ($i ~ /^[0-9]+%$/ && $(i - 1) ~ /^[0-9]+$/ && $(i - 2) ~ /^[0-9]+$/) { print $(i - 1); exit } }'; }
say free "$(bounded df -Pk "$HOME" | available)"
say inodes "$(bounded df -Pi "$HOME" | available)"
has stat && say filesystem "$(bounded stat -f -c %T "$HOME")"
if [ ! -d "$HOME" ]; then say homeless 1; elif [ ! -w "$HOME" ]; then say readonly 1; fi
# Of nested mounts the deepest counts, of those at one place the last.
options=$(place=$(cd "$HOME" && pwd -P) awk '
  { point = $2; gsub(/\\040/, " ", point); sub(/\/$/, "", point) }
  index(ENVIRON["place"] "/", point "/") == 1 && length(point) >= longest {
    longest = length(point); options = $4
  }
  END { print options }' /proc/mounts 2>/dev/null)
case ",$options," in *,noexec,*) say noexec 1;; esac
case ",$options," in *,ro,*) say readonly 1;; esac
for name in ${LEFT_OUT.join(' ')}; do
  [ -z "$(eval "printf %s \"\$$name\"")" ] || say leftout "$name"
done
has node && say node "$(${BEFORE_NODE}; bounded node --version)"
limit_of() { sed -n "s/^Max $1  *\([0-9][0-9]*\) .*/\1/p" /proc/self/limits 2>/dev/null; }
# On a machine our Node starts with as much as may be had.
[ "$here" = 1 ] || ulimit -S -v "$(ulimit -H -v)" 2>/dev/null
say addressspace "$(limit_of 'address space')"
say openfiles "$(limit_of 'open files')"
say mostprocesses "$(limit_of processes)"
say ssh "$SSH_CONNECTION"
if has ip; then
  ip -o addr show scope global 2>/dev/null | awk '{split($4, a, "/"); print "address=" a[1]}'
elif has hostname; then
  for address in $(hostname -I 2>/dev/null); do say address "$address"; done
fi
words() { printf '%s' "$answer" | tr '\n' ' '; }
# The answer of nvidia-smi in $answer; false if it has none.
ask() {
  answer=$(bounded nvidia-smi "$@")
  code=$?
  [ "$code" = 137 ] && say late nvidia-smi
  return "$code"
}
# False if nvidia-smi does not list its GPUs.
nvidia() {
  ask --query-gpu=driver_version --format=csv,noheader &&
    say driver "$(printf '%s\n' "$answer" | head -n 1)" &&
    ask --query-gpu=pci.bus_id,name,memory.total --format=csv,noheader,nounits || {
    code=$?
    [ "$code" = 137 ] && return 1
    # What it complains about may be in its other output.
    [ -n "$answer" ] || answer=$(bounded sh -c 'exec nvidia-smi --query-gpu=name --format=csv 2>&1')
    [ -n "$answer" ] || answer="it ends with code $code"
    say failed "nvidia-smi $(words)"
    return 1
  }
  printf '%s\n' "$answer" | sed 's/^/gpu=/'
  ask --query-compute-apps=gpu_bus_id,pid --format=csv,noheader || return 0
  say processes nvidia
  printf '%s\n' "$answer" | while IFS=', ' read -r bus pid; do
    # One that we may not see is another's.
    [ -z "$pid" ] || own "$pid" || say busy "$bus"
  done
}
# A driver that does not work need not show its GPUs as graphics cards.
nvidia_devices() {
  for device in /sys/bus/pci/devices/*; do
    [ "$(cat "$device/vendor" 2>/dev/null)" = 0x10de ] || continue
    case "$(cat "$device/class")" in
      0x03*) say card "$(basename "$device") 0x10de $(cat "$device/device")";;
    esac
  done
}
own() { [ "$(stat -c %u "/proc/$1" 2>/dev/null)" = "$(id -u)" ]; }
cards() {
  for card in /sys/class/drm/card[0-9]*/device; do
    case "$card" in *-*) continue;; esac
    [ -r "$card/vendor" ] && say card "$(basename "$(readlink -f "$card")") $(cat "$card/vendor") $(cat "$card/device")"
  done
  [ -d /sys/class/kfd/kfd/proc ] || return
  say processes amd
  for node in /sys/class/kfd/kfd/topology/nodes/*; do
    gpu=$(cat "$node/gpu_id" 2>/dev/null)
    [ -n "$gpu" ] && [ "$gpu" != 0 ] || continue
    domain=$(sed -n 's/^domain //p' "$node/properties")
    at=$(sed -n 's/^location_id //p' "$node/properties")
    [ -n "$domain" ] || domain=0
    bus=$(printf '%04x:%02x:%02x.%x' "$domain" $((at / 256)) $((at / 8 % 32)) $((at % 8)))
    for process in /sys/class/kfd/kfd/proc/*; do
      used=$(cat "$process/vram_$gpu" 2>/dev/null)
      [ -n "$used" ] && [ "$used" != 0 ] || continue
      own "$(basename "$process")" || say busy "$bus"
    done
  done
}
if ! has nvidia-smi || ! nvidia; then
  has nvidia-smi && nvidia_devices
  [ -d /sys/class/drm ] && cards
fi
for library in /usr/lib/*/libvulkan.so.1 /usr/lib64/libvulkan.so.1 /usr/lib/libvulkan.so.1; do
  [ -e "$library" ] && { say vulkan 1; break; }
done
# Vulkan's drivers: a manifest names a library, which may be missing all the same.
manifests() {
  if [ -n "$VK_DRIVER_FILES$VK_ICD_FILENAMES" ]; then
    [ -n "$VK_DRIVER_FILES" ] || VK_DRIVER_FILES=$VK_ICD_FILENAMES
    printf '%s\n' "$VK_DRIVER_FILES" | tr : '\n'
    return
  fi
  printf '%s\n' "$VK_ADD_DRIVER_FILES" | tr : '\n'
  [ -n "$XDG_CONFIG_DIRS" ] || XDG_CONFIG_DIRS=/etc/xdg
  [ -n "$XDG_DATA_DIRS" ] || XDG_DATA_DIRS=/usr/local/share:/usr/share
  [ -n "$XDG_CONFIG_HOME" ] || XDG_CONFIG_HOME=$HOME/.config
  [ -n "$XDG_DATA_HOME" ] || XDG_DATA_HOME=$HOME/.local/share
  printf '%s\n' "$XDG_CONFIG_HOME:$XDG_CONFIG_DIRS:/etc:$XDG_DATA_HOME:$XDG_DATA_DIRS" |
    tr : '\n' | while IFS= read -r folder; do
      for file in "$folder"/${MANIFESTS}/*.json; do printf '%s\n' "$file"; done
    done
}
found() {
  case "$2" in
    /*) [ -e "$2" ];;
    */*) [ -e "$(dirname "$1")/$2" ];;
    *)
      for folder in /usr/lib/* /usr/lib64 /usr/lib /lib64; do
        [ -e "$folder/$2" ] && return
      done
      { ldconfig -p || /sbin/ldconfig -p; } 2>/dev/null | grep -qF "$2 ";;
  esac
}
found . libstdc++.so.6 || say missing libstdc++.so.6
manifests | while IFS= read -r manifest; do
  if [ -d "$manifest" ]; then set -- "$manifest"/*.json; else set -- "$manifest"; fi
  for file do
    [ -r "$file" ] || continue
    library=$(sed -n 's/.*"library_path" *: *"\([^"]*\)".*/\1/p' "$file" | head -n 1)
    [ -n "$library" ] && found "$file" "$library" && say icd "$library"
  done
done
if [ "$slurm" = 1 ]; then
  if has sinfo; then
    # A busy controller answers late.
    limit=$((limit * 2))
    answer=$(bounded sh -c 'exec sinfo --noheader --format=%R 2>&1')
    case $? in
      0)
        # Those that others do not see as well; a user may name several.
        answer=$(bounded sh -c 'exec sinfo --all --noheader --format=%R 2>&1') &&
          for name in $(printf %s "$partition" | tr , ' '); do
            printf '%s\n' "$answer" | grep -qxF -e "$name" || say slurmpartition "$name"
          done;;
      137) say slurmsilent "sinfo does not end: $(words)";;
      *) say slurmsilent "sinfo failed: $(words)";;
    esac
  else say slurmmissing 1; fi
fi
for program in ${NEEDED_PROGRAMS.join(' ')}; do has "$program" || say missing "$program"; done
true
`;
