/** A machine's equipment, in lines. */
import { machineTitle } from '../../shared/machines/machine-names.ts';
import type { GpuReport, Preflight } from '../../shared/machines/preflight.ts';
import { transportText } from '../../shared/machines/ssh-transport.ts';

export function preflightText(name: string, seen: Preflight): string {
  const lines = [
    `${machineTitle(name)}: ${seen.hostname}, ${seen.system} ${seen.kernel} on ${seen.machine}, ${seen.libc}`,
    joined([
      seen.cores === undefined ? undefined : `${seen.cores} cores`,
      seen.memoryMiB === undefined ? undefined : `${gibibytes(seen.memoryMiB)} memory`,
      nodeText(seen),
    ]),
    joined([
      `home ${seen.home}`,
      seen.fileSystem,
      seen.freeMiB === undefined ? undefined : `${gibibytes(seen.freeMiB)} free`,
    ]),
    seen.addresses.length === 0 ? undefined : `addresses ${seen.addresses.join(', ')}`,
    seen.transport === undefined
      ? undefined
      : `reached through ${transportText(seen.transport)}`,
    ...(seen.notices ?? []).map((notice) => `notice: ${notice}`),
    ...seen.gpus.map(gpuText),
    ...seen.findings.map(
      ({ level, code, message, next }) =>
        `${level}: ${code}: ${message}${next === undefined ? '' : `. ${next}`}`,
    ),
    verdict(seen),
  ];
  return lines.filter((line) => line !== undefined && line !== '').join('\n');
}

/** Errors speak for themselves. */
function verdict({ findings }: Preflight): string | undefined {
  if (findings.some(({ level }) => level === 'error')) return undefined;
  return findings.length === 0 ? 'ready for runs' : 'ready for runs, with warnings';
}

function nodeText({ node, bringsNode }: Preflight): string {
  if (node === undefined) return 'no Node: Gradwire installs its own';
  return `Node ${node}${bringsNode ? ', too old: Gradwire installs a newer one' : ''}`;
}

function gpuText({ bus, name, memoryMiB, othersProcesses }: GpuReport): string {
  return joined([
    `GPU ${name}`,
    memoryMiB === undefined ? undefined : gibibytes(memoryMiB),
    bus === undefined ? undefined : `bus ${bus}`,
    othersProcesses === undefined ? 'whether others use it is not known' : undefined,
  ]);
}

const joined = (parts: readonly (string | undefined)[]): string =>
  parts.filter((part) => part !== undefined).join(', ');

const gibibytes = (mebibytes: number): string => `${(mebibytes / 1024).toFixed(1)} GiB`;
