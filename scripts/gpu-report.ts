/**
 * What the GPU kit measured, as a section of docs/benchmarks.md on stdout.
 *
 *   node scripts/gpu-report.ts DIR        # the folder that run.sh wrote
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type {
  Bits,
  DeviceSeen,
  KernelTimes,
  PeerTimes,
  RunSteps,
  StepResult,
} from './gpu-kit/results.ts';

const [, , folder] = process.argv;
if (folder === undefined || !existsSync(path.join(folder, 'device.json'))) {
  process.stderr.write(
    `gpu-report: no device.json in ${folder ?? 'no folder'}\n` +
      '  Give the folder that gpu-kit/run.sh wrote: node scripts/gpu-report.ts DIR\n',
  );
  process.exit(2);
}

const read = <T>(file: string): StepResult<T> =>
  JSON.parse(readFileSync(path.join(folder, file), 'utf8')) as StepResult<T>;
const all = <T>(prefix: string): StepResult<T>[] =>
  readdirSync(folder)
    .filter((name) => name.startsWith(prefix) && name.endsWith('.json'))
    .map((name) => read<T>(name))
    .sort((a, b) => a.began.localeCompare(b.began));

/** What a step says about itself instead of figures, in one line. */
const reason = ({ failure, skipped }: StepResult<unknown>): string =>
  (failure ?? skipped ?? '').split('\n')[0]!;

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

const ms = (value: number | undefined): string =>
  value === undefined ? '' : value.toPrecision(3);

function deviceText({ began, result }: StepResult<DeviceSeen>): string {
  const date = began.slice(0, 10);
  if (result === undefined) return `${date}: WebGPU found no GPU.`;
  const { name, bus, info, nvidia, software, node, gradwire } = result;
  const driver = [info['description'], ...nvidia].filter(Boolean).join('; ');
  const where = bus === undefined ? '' : `, bus ${bus}`;
  const warning = software
    ? ' **A CPU driver: its times say nothing about a GPU.**'
    : '';
  return `${date}, ${name}${where} (${driver}); Node ${node.slice(1)}, Gradwire ${gradwire}.${warning}`;
}

function bitsText(steps: readonly StepResult<Bits>[]): string {
  const rows = steps.map((step) => {
    const { passed, skipped, failed } = step.result ?? {
      passed: 0,
      skipped: 0,
      failed: [],
    };
    const cells = [passed, failed.length, skipped].map(String);
    return [step.step.replace('bits-', ''), ...cells, reason(step)];
  });
  return table(['bits of', 'passed', 'failed', 'not run', ''], rows);
}

/** Names of PyTorch's functions beside those of bench/gpu.ts. */
const PEERS: Readonly<Record<string, string>> = {
  copy: 'copy',
  'sums by sign': 'means',
  'top-k 0.1 %': 'top-k 0.1 %',
  'top-k 1 %': 'top-k 1 %',
  'quantise, 4 bits': 'tuned',
};

function kernelsText(
  steps: readonly StepResult<KernelTimes>[],
  peers: PeerTimes | undefined,
): string {
  const rows = steps.flatMap(({ result }) =>
    (result?.rows ?? []).map(({ kernel, n, ms: time, gigabytesPerSecond, share }) => [
      ...[kernel, String(n), ms(time), gigabytesPerSecond?.toPrecision(3) ?? ''],
      share === undefined ? '' : `${(100 * share).toFixed(0)} %`,
      ms(peers?.rows.find((row) => row['n'] === n)?.[PEERS[kernel] ?? '']),
    ]),
  );
  return table(['kernel', 'n', 'ms', 'GB/s', 'of copy', 'PyTorch, ms'], rows);
}

const PHASES = [
  'compute',
  'compress',
  'send',
  'receive',
  'wait',
  'reduce',
  'decompress',
];

function runsText(steps: readonly StepResult<RunSteps>[]): string {
  const rows = steps.flatMap((step) => {
    const { result } = step;
    if (result === undefined)
      return [[step.step, ...PHASES.map(() => ''), reason(step)]];
    return result.methods.map((method, index) => {
      const memory =
        result.peakMiB === undefined
          ? ''
          : `${result.peakMiB - (result.beforeMiB ?? 0)}`;
      const phases = PHASES.map((phase) => ms(method.phasesMs[phase]));
      const end = result.consistent === true ? 'yes' : `no ${reason(step)}`;
      return [
        ...[`${result.model}, ${result.ranks}`, result.backend, method.method],
        ...[ms(method.wallMs), ...phases, String(method.payload)],
        ...(index === 0 ? [memory, end] : ['', '']),
      ];
    });
  });
  const head = ['model, ranks', 'backend', 'method', 'step', ...PHASES, 'bytes'];
  return table(
    [...head, 'memory, MiB', 'equal replicas'],
    rows.map((row) => [
      ...row,
      ...Array<string>(Math.max(0, head.length + 2 - row.length)).fill(''),
    ]),
  );
}

const kernels = all<KernelTimes>('kernels-');
const peers = existsSync(path.join(folder, 'peers.json'))
  ? read<PeerTimes>('peers.json')
  : undefined;
const runs = all<RunSteps>('run-');
const missing = [...all<unknown>('')]
  .filter((step) => reason(step) !== '')
  .map((step) => `- \`${step.step}\`: ${reason(step)}`);
const torch =
  peers?.result === undefined
    ? []
    : [`PyTorch ${peers.result.torch} on ${peers.result.device}.`];
console.log(
  [
    '### Figures of a GPU',
    deviceText(read<DeviceSeen>('device.json')),
    bitsText(all<Bits>('bits-')),
    'Kernels by the device’s own clock, medians of seven calls:',
    kernelsText(kernels, peers?.result),
    ...torch,
    'Steps of whole runs, ms, medians without the first two after a switch; two ranks share the GPU:',
    runsText(runs),
    ...(missing.length > 0
      ? ['Not measured, or not completely:', missing.join('\n')]
      : []),
  ].join('\n\n'),
);
