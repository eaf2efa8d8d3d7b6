/**
 * Inspects a node before anything is written to it, by one POSIX shell script that only
 * reads. Its answer is lines `key=value`; values that a machine does not know are
 * missing.
 */
import type { RemoteConnection } from '../ssh/remote-connection.ts';
import { runScript } from '../ssh/remote-script.ts';
import type { Finding, GpuReport, Preflight } from '../../shared/preflight.ts';
import { connectionEnds, isNodeFit } from './installed.ts';
import { vulkanLoader, type Platform } from './package-files.ts';

/** Space for the agent, the runtime and their archives, all unpacked. */
const NEEDED_MIB = 400;
const NEEDED_INODES = 500;
const CLOCK_SECONDS = 5;
const NEEDED_PROGRAMS = ['tar', 'gzip', 'sha256sum'];

const SCRIPT = `
say() { printf '%s=%s\\n' "$1" "$2"; }
has() { command -v "$1" >/dev/null 2>&1; }
say hostname "$(uname -n)"
say system "$(uname -s)"
say kernel "$(uname -r)"
say machine "$(uname -m)"
if has getconf && getconf GNU_LIBC_VERSION >/dev/null 2>&1; then say libc glibc
elif ls /lib/ld-musl-* >/dev/null 2>&1; then say libc musl; fi
has getconf && say cores "$(getconf _NPROCESSORS_ONLN 2>/dev/null)"
[ -r /proc/meminfo ] && say memory "$(sed -n 's/^MemTotal: *\\([0-9]*\\) kB/\\1/p' /proc/meminfo)"
say home "$HOME"
say free "$(df -Pk "$HOME" 2>/dev/null | tail -n 1 | awk '{print $4}')"
say inodes "$(df -Pi "$HOME" 2>/dev/null | tail -n 1 | awk '{print $4}')"
has stat && say filesystem "$(stat -f -c %T "$HOME" 2>/dev/null)"
[ -w "$HOME" ] || say readonly 1
if has findmnt; then
  case ",$(findmnt -n -o OPTIONS -T "$HOME" 2>/dev/null)," in *,noexec,*) say noexec 1;; esac
fi
say clock "$(date +%s)"
has node && say node "$(node --version 2>/dev/null)"
say ssh "$SSH_CONNECTION"
if has ip; then
  ip -o addr show scope global 2>/dev/null | awk '{split($4, a, "/"); print "address=" a[1]}'
elif has hostname; then
  for address in $(hostname -I 2>/dev/null); do say address "$address"; done
fi
if has nvidia-smi; then
  say driver "$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1)"
  nvidia-smi --query-gpu=pci.bus_id,name,memory.total --format=csv,noheader,nounits 2>/dev/null | sed 's/^/gpu=/'
  nvidia-smi --query-compute-apps=gpu_bus_id,pid --format=csv,noheader 2>/dev/null | while IFS=', ' read -r bus pid; do
    # One that we may not see is another's.
    [ "$(stat -c %u "/proc/$pid" 2>/dev/null)" = "$(id -u)" ] || say busy "$bus"
  done
elif [ -d /sys/class/drm ]; then
  for card in /sys/class/drm/card[0-9]/device; do
    [ -r "$card/vendor" ] && say card "$(basename "$(readlink -f "$card")") $(cat "$card/vendor") $(cat "$card/device")"
  done
fi
for library in /usr/lib/*/libvulkan.so.1 /usr/lib64/libvulkan.so.1 /usr/lib/libvulkan.so.1; do
  [ -e "$library" ] && { say vulkan 1; break; }
done
for program in ${NEEDED_PROGRAMS.join(' ')}; do has "$program" || say missing "$program"; done
true
`;

/** @throws GradwireError as `runScript` */
export async function preflight(
  connection: RemoteConnection,
  signal?: AbortSignal,
): Promise<Preflight> {
  const before = Date.now();
  const { stdout } = await runScript(connection, SCRIPT, {
    name: 'the check of the machine',
    signal,
  });
  return parsePreflight(stdout, (before + Date.now()) / 2000);
}

/**
 * @param text lines `key=value`
 * @param now this computer's clock in seconds since 1970, when the node read its own
 */
export function parsePreflight(text: string, now: number): Preflight {
  const all = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const at = line.indexOf('=');
    if (at < 0) continue;
    const value = line.slice(at + 1).trim();
    if (value === '') continue;
    const key = line.slice(0, at);
    all.set(key, [...(all.get(key) ?? []), value]);
  }
  const one = (key: string): string | undefined => all.get(key)?.[0];
  const number = (key: string): number | undefined => {
    const value = Number(one(key) ?? NaN);
    return Number.isFinite(value) ? value : undefined;
  };
  const mebibytes = (key: string): number | undefined => {
    const kibibytes = number(key);
    return kibibytes === undefined ? undefined : Math.floor(kibibytes / 1024);
  };
  const given = {
    hostname: one('hostname') ?? 'unknown',
    system: one('system') ?? 'unknown',
    kernel: one('kernel') ?? 'unknown',
    machine: one('machine') ?? 'unknown',
    libc: libcOf(one('libc')),
    cores: number('cores'),
    memoryMiB: mebibytes('memory'),
    home: one('home') ?? '',
    fileSystem: one('filesystem'),
    freeMiB: mebibytes('free'),
    freeInodes: number('inodes'),
    noexec: one('noexec') !== undefined,
    clockOffsetSeconds: Math.round((number('clock') ?? now) - now),
    node: one('node'),
    bringsNode: !isNodeFit(one('node')),
    addresses: all.get('address') ?? [],
    connection: connectionEnds(one('ssh')),
    driver: one('driver'),
    gpus: gpusOf(all),
    vulkan: one('vulkan') !== undefined,
    missing: all.get('missing') ?? [],
  };
  const platform = platformOf(given);
  const seen = {
    ...given,
    bringsVulkan: platform !== undefined && vulkanLoader(platform).length > 0,
  };
  return { ...seen, findings: findingsOf(seen, one('readonly') !== undefined) };
}

/** The node's platform in Node's terms; undefined if there is no build for it. */
export function platformOf({
  system,
  machine,
}: Pick<Preflight, 'system' | 'machine'>): Platform | undefined {
  const os = { Linux: 'linux' }[system];
  const architecture = {
    x86_64: 'x64',
    amd64: 'x64',
    aarch64: 'arm64',
    arm64: 'arm64',
  }[machine];
  return os === undefined || architecture === undefined
    ? undefined
    : { os, architecture };
}

export function platformUnsupported({
  system,
  machine,
}: Pick<Preflight, 'system' | 'machine'>): Finding {
  return {
    level: 'error',
    code: 'PLATFORM_UNSUPPORTED',
    message: `Gradwire has no build for ${system} on ${machine}`,
    next: 'Use a machine with Linux on x86_64 or aarch64.',
  };
}

const libcOf = (text: string | undefined): Preflight['libc'] =>
  text === 'glibc' || text === 'musl' ? text : 'unknown';

function gpusOf(all: ReadonlyMap<string, readonly string[]>): readonly GpuReport[] {
  const busy = all.get('busy') ?? [];
  const nvidia = (all.get('gpu') ?? []).map((line): GpuReport => {
    const [bus, name, memory] = line.split(',').map((part) => part.trim());
    const memoryMiB = Number(memory);
    return {
      bus,
      name: name ?? 'unknown',
      ...(Number.isFinite(memoryMiB) ? { memoryMiB } : {}),
      othersProcesses: busy.filter((other) => other === bus).length,
    };
  });
  const others = (all.get('card') ?? []).map((line): GpuReport => {
    const [bus, vendor, device] = line.split(' ');
    return {
      bus: bus && asNvidiaSmi(bus),
      name: `PCI ${vendor ?? '?'}:${device ?? '?'}`,
    };
  });
  return [...nvidia, ...others];
}

/** Linux's `0000:03:00.0` as `00000000:03:00.0`, with capital letters. */
const asNvidiaSmi = (bus: string): string => bus.toUpperCase().padStart(16, '0');

function findingsOf(
  seen: Omit<Preflight, 'findings'>,
  readOnly: boolean,
): readonly Finding[] {
  const findings: Finding[] = [];
  const error = (code: string, message: string, next?: string): void => {
    findings.push({ level: 'error', code, message, next });
  };
  const warn = (code: string, message: string, next?: string): void => {
    findings.push({ level: 'warning', code, message, next });
  };
  if (platformOf(seen) === undefined) findings.push(platformUnsupported(seen));
  else if (seen.libc === 'musl') {
    error(
      'LIBC_UNSUPPORTED',
      'the machine uses musl, but Gradwire’s Node needs glibc',
      'Use another machine.',
    );
  }
  if (readOnly) {
    error(
      'HOME_READ_ONLY',
      `${seen.home} is not writable`,
      'Use an account with a writable home.',
    );
  }
  if (seen.noexec) {
    error('HOME_NOEXEC', `${seen.home} is mounted noexec: programs cannot run from it`);
  }
  if (seen.freeMiB !== undefined && seen.freeMiB < NEEDED_MIB) {
    error(
      'DISK_FULL',
      `${seen.home} has ${seen.freeMiB} MiB free but needs ${NEEDED_MIB}`,
      'Free some space there.',
    );
  }
  // 0 for file systems that do not count them.
  if (
    seen.freeInodes !== undefined &&
    seen.freeInodes > 0 &&
    seen.freeInodes < NEEDED_INODES
  ) {
    error(
      'INODES_EXHAUSTED',
      `${seen.home} has room for only ${seen.freeInodes} more files (inodes)`,
    );
  }
  for (const program of seen.missing) {
    error(
      'PROGRAM_MISSING',
      `${program} is not on the PATH`,
      `Install ${program} there, or ask the administrator to.`,
    );
  }
  if (Math.abs(seen.clockOffsetSeconds) >= CLOCK_SECONDS) {
    const way = seen.clockOffsetSeconds > 0 ? 'ahead of' : 'behind';
    warn(
      'CLOCK_OFFSET',
      `its clock is ${Math.abs(seen.clockOffsetSeconds)} s ${way} this computer's`,
      'Its records will show its own clock’s times.',
    );
  }
  for (const { bus, name, othersProcesses = 0 } of seen.gpus) {
    if (othersProcesses > 0) {
      warn(
        'GPU_IN_USE',
        `${othersProcesses} processes of other users run on ${name} (${bus ?? 'bus unknown'})`,
      );
    }
  }
  if (seen.gpus.length > 0 && !seen.vulkan && !seen.bringsVulkan) {
    warn(
      'VULKAN_MISSING',
      'the machine has a GPU but no Vulkan loader: ranks will compute on the CPU',
      'Install libvulkan1 there, or on this computer: Gradwire then deploys it.',
    );
  }
  return findings;
}
