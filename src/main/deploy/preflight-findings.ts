/** Errors and warnings about using an inspected machine, from its answers. */
import {
  addressSpaceText,
  NEEDED_ADDRESS_MIB,
} from '../../shared/machines/address-space.ts';
import type { ErrorCode } from '../../shared/codes/error-code.ts';
import type { Finding, GpuReport, Preflight } from '../../shared/machines/preflight.ts';
import { printable } from '../ssh/ssh-errors.ts';
import { platformOf, platformUnsupported } from './platform.ts';

/** Space for the agent, the runtime and their archives, all unpacked. */
const NEEDED_MIB = 400;
const NEEDED_INODES = 500;
const CLOCK_SECONDS = 5;
/** The oldest glibc that Node 24's binaries run with. */
const LOWEST_GLIBC = [2, 28] as const;
/** A run of eight ranks needs some 60. */
const NEEDED_FILES = 64;
const AMPLE_FILES = 256;
/** Threads count, too: a process of ours has about a dozen. */
const AMPLE_PROCESSES = 256;
const LIBRARY = /\.so/;

/** Answers that are only in findings. */
export interface Answers {
  /** The account's home is no directory. */
  readonly homeless: boolean;
  readonly readOnly: boolean;
  /** Limits that the machine's start files set for a process; undefined without a limit. */
  readonly limits: {
    readonly addressSpaceMiB: number | undefined;
    readonly openFiles: number | undefined;
    /** Processes and threads of the user. */
    readonly processes: number | undefined;
  };
  /** Tools that took too long. */
  readonly late: readonly string[];
  /** Tools that failed, and their complaints. */
  readonly failed: readonly { readonly tool: string; readonly words: string }[];
  /** Slurm's answer, if it was asked. */
  readonly slurm:
    | { readonly kind: 'fine' }
    | { readonly kind: 'missing' }
    /** Partitions in its settings that Slurm does not have. */
    | { readonly kind: 'apart'; readonly unknown: readonly string[] }
    | { readonly kind: 'silent'; readonly reason: string };
}

/**
 * The libraries of Vulkan's drivers. A machine set up only to compute may have a GPU's
 * driver without one: NVIDIA's comes with the libraries for graphics.
 */
const VULKAN_DRIVERS: Readonly<
  Record<
    NonNullable<GpuReport['vendor']>,
    { readonly library: RegExp; readonly next: string }
  >
> = {
  nvidia: {
    library: /nvidia|nouveau/i,
    next:
      'Have the graphics libraries of its driver installed there: libGLX_nvidia.so.0 and ' +
      'nvidia_icd.json (Debian: nvidia-vulkan-icd; Ubuntu: libnvidia-gl-VERSION).',
  },
  amd: {
    library: /radeon|amdvlk/i,
    next: 'Have Mesa’s drivers installed there (mesa-vulkan-drivers).',
  },
  intel: {
    library: /intel/i,
    next: 'Have Mesa’s drivers installed there (mesa-vulkan-drivers).',
  },
};

export function findingsOf(
  seen: Omit<Preflight, 'findings'>,
  answers: Answers,
): readonly Finding[] {
  const findings: Finding[] = [];
  const error = (code: ErrorCode, message: string, next?: string): void => {
    findings.push({ level: 'error', code, message, next });
  };
  const warn = (code: ErrorCode, message: string, next?: string): void => {
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
  if (seen.bringsNode && isOlder(seen.glibc)) {
    error(
      'GLIBC_TOO_OLD',
      `the machine has glibc ${seen.glibc}, but Gradwire’s Node needs ${LOWEST_GLIBC.join('.')}`,
      'Use a newer machine (RHEL 8, Debian 10, Ubuntu 20.04 or newer), or put a Node 24 that runs there on its PATH.',
    );
  }
  if (answers.homeless) {
    error(
      'HOME_MISSING',
      `the account’s home ${seen.home} does not exist there`,
      'Log in once with ssh in a terminal, which creates it on many systems; otherwise its administrator must create or mount it.',
    );
  } else if (answers.readOnly) {
    error(
      'HOME_READ_ONLY',
      `${seen.home} is not writable`,
      'Use an account with a writable home.',
    );
  }
  if (seen.noexec) {
    error(
      'HOME_NOEXEC',
      `${seen.home} is mounted noexec: programs cannot run from it`,
      'Use an account with a home on another file system, or ask the administrator to remount it.',
    );
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
      'Delete some files there: a directory with many small ones, such as a cache.',
    );
  }
  for (const program of seen.missing) {
    if (LIBRARY.test(program)) {
      if (!seen.bringsNode) continue; // Node runs there, so it has found it.
      error(
        'LIBRARY_MISSING',
        `${program} is not installed, and Gradwire’s Node needs it`,
        'Install it there, or ask the administrator to: it comes with gcc (libstdc++6, libstdc++).',
      );
      continue;
    }
    error(
      'PROGRAM_MISSING',
      `${program} is not on the PATH`,
      `Install ${program} there, or ask the administrator to.`,
    );
  }
  findings.push(...limitFindings(answers.limits));
  if (seen.leftOut !== undefined && seen.leftOut.length > 0) {
    warn(
      'VARIABLES_LEFT_OUT',
      `its start files set ${seen.leftOut.join(', ')}: Gradwire’s Node starts without`,
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
        `other users run ${othersProcesses} ${othersProcesses === 1 ? 'process' : 'processes'} on ${name} (${bus ?? 'bus unknown'})`,
      );
    }
  }
  for (const tool of answers.late) {
    warn(
      'TOOL_SILENT',
      `${tool} does not finish there, so its GPUs may not be usable, and their users are unknown`,
      `Run ${tool} there. If it hangs, have the driver restarted, or the machine.`,
    );
  }
  for (const { tool, words } of answers.failed) {
    // Not a failure where the machine has none, as on a login node.
    const isAnswer = /^no devices were found/i.test(words);
    if (isAnswer && seen.gpus.every(({ vendor }) => vendor !== 'nvidia')) continue;
    warn(
      'TOOL_FAILED',
      `${tool} fails there, so its GPUs may not be usable, and their users are unknown: ${printable(words).replace(/\.$/, '')}`,
      `Run ${tool} there. If it still fails, have the driver repaired, or the machine restarted.`,
    );
  }
  if (seen.gpus.length > 0 && !seen.vulkan && !seen.bringsVulkan) {
    warn(
      'VULKAN_MISSING',
      'the machine has a GPU but no Vulkan loader: ranks will compute on the CPU',
      'Install libvulkan1 there, or on this computer: Gradwire then deploys it.',
    );
  }
  for (const [vendor, { library, next }] of Object.entries(VULKAN_DRIVERS)) {
    const without = seen.gpus.find((gpu) => gpu.vendor === vendor);
    if (without === undefined || seen.vulkanDrivers.some((name) => library.test(name)))
      continue;
    warn(
      'VULKAN_DRIVER_MISSING',
      `${without.name} (${without.bus ?? 'bus unknown'}) has no Vulkan driver: ranks will compute on the CPU`,
      next,
    );
  }
  findings.push(...slurmFindings(answers.slurm));
  return findings;
}

function isOlder(glibc: string | undefined): boolean {
  const [major, minor] = (glibc ?? '').split('.').map(Number);
  if (major === undefined || minor === undefined || Number.isNaN(major + minor)) {
    return false;
  }
  return (
    major < LOWEST_GLIBC[0] || (major === LOWEST_GLIBC[0] && minor < LOWEST_GLIBC[1])
  );
}

function limitFindings({
  addressSpaceMiB,
  openFiles,
  processes,
}: Answers['limits']): readonly Finding[] {
  const findings: Finding[] = [];
  if (addressSpaceMiB !== undefined && addressSpaceMiB < NEEDED_ADDRESS_MIB) {
    findings.push({
      level: 'error',
      code: 'ADDRESS_SPACE_LIMITED',
      message: addressSpaceText(addressSpaceMiB),
      next: 'Remove ulimit -v from your start files there, or ask the administrator: memory itself is not the matter.',
    });
  }
  if (openFiles !== undefined && openFiles < AMPLE_FILES) {
    findings.push({
      level: openFiles < NEEDED_FILES ? 'error' : 'warning',
      code: 'OPEN_FILES_LIMITED',
      message: `a process may open ${openFiles} files and sockets (ulimit -n); runs of several ranks need more`,
      next: `Allow ${AMPLE_FILES} there: start files or /etc/security/limits.conf set it.`,
    });
  }
  if (processes !== undefined && processes < AMPLE_PROCESSES) {
    findings.push({
      level: 'warning',
      code: 'PROCESSES_LIMITED',
      message: `you may have ${processes} processes and threads there (ulimit -u); each rank has about a dozen`,
      next: `Allow ${AMPLE_PROCESSES} there: start files or /etc/security/limits.conf set it.`,
    });
  }
  return findings;
}

function slurmFindings(slurm: Answers['slurm']): readonly Finding[] {
  switch (slurm.kind) {
    case 'fine':
      return [];
    case 'missing':
      return [
        {
          level: 'error',
          code: 'SLURM_MISSING',
          message: 'its settings call it a Slurm login node, but it has no sinfo',
          next:
            'Put Slurm on the PATH of SSH commands there (test: ssh HOST command -v sinfo), or ' +
            'remove Slurm from its settings: gradwire nodes edit NAME --unset slurm.',
        },
      ];
    case 'apart':
      return slurm.unknown.map((name) => ({
        level: 'error',
        code: 'SLURM_PARTITION_UNKNOWN',
        message: `Slurm has no partition ${name} there`,
        next: 'Name one that sinfo --all lists: gradwire nodes edit NAME --partition PARTITION.',
      }));
    case 'silent':
      return [
        {
          level: 'error',
          code: 'SLURM_SILENT',
          message: `Slurm does not respond there: ${slurm.reason.replace(/[\s:]+$/, '')}`,
          next:
            'Tell the cluster’s administrators, and check again when sinfo works ' +
            'there.',
        },
      ];
    default:
      return slurm satisfies never;
  }
}
