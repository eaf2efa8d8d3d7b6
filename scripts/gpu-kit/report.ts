/** Measurements of the GPU kit, as a section of docs/benchmarks.md; cut steps leave gaps. */
import { phasesOf } from '../../src/shared/records/phases.ts';
import type {
  Bits,
  DeviceSeen,
  KernelTimes,
  PeerTimes,
  RunSteps,
  StepResult,
} from './results.ts';

/** The share that docs/benchmarks.md asks of kernels that pass over their memory once. */
const GOAL = 0.6;
const ONE_PASS: ReadonlySet<string> = new Set([
  ...['add', 'scale', 'shift by sign', 'sums by sign'],
]);
/** And of this one: less time than PyTorch's takes. */
const RACED = { kernel: 'top-k 0.1 %', n: 25_000_000 };

/** PyTorch's functions beside kernels of bench/gpu.ts. */
const PEERS: Readonly<Record<string, readonly string[]>> = {
  copy: ['copy'],
  'sums by sign': ['means'],
  'top-k 0.1 %': ['top-k 0.1 %'],
  'top-k 1 %': ['top-k 1 %'],
  'quantise, 4 bits': ['tuned', 'qsgd'],
};

/** @param steps all files of a measurement, `device` among them, in any order */
export function reportOf(steps: readonly StepResult<unknown>[]): string {
  const inOrder = steps.toSorted((a, b) => (a.began < b.began ? -1 : 1));
  const named = <T>(prefix: string): StepResult<T>[] =>
    inOrder.filter(({ step }) => step.startsWith(prefix)) as StepResult<T>[];
  const [peers] = named<PeerTimes>('peers');
  const incomplete = inOrder
    .filter((step) => reasonOf(step) !== '')
    .map((step) => `- \`${step.step}\`: ${reasonOf(step)}`);
  return [
    '### Figures of a GPU',
    ...named<DeviceSeen>('device').map(deviceText),
    ...bitsText(named<Bits>('bits-')),
    ...kernelsText(named<KernelTimes>('kernels-'), peers?.result),
    ...runsText(named<RunSteps>('run-')),
    ...(incomplete.length > 0
      ? ['Not measured, or not completely:', incomplete.join('\n')]
      : []),
  ].join('\n\n');
}

/** Words of a step about itself beside figures, or instead of them, in one line. */
const reasonOf = ({ failure, skipped }: StepResult<unknown>): string =>
  (failure ?? skipped ?? '').split('\n')[0]!;

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

const figure = (value: number | undefined): string =>
  value === undefined ? '' : String(Number(value.toPrecision(3)));

function deviceText({ began, result }: StepResult<DeviceSeen>): string {
  const date = began.slice(0, 10);
  if (result === undefined) return `${date}: WebGPU found no GPU.`;
  const { name, bus, info, nvidia, software, node, gradwire } = result;
  const card = nvidia.find((one) => one.bus === bus);
  const about = [
    ...(info['description'] === name ? [] : [info['description']]),
    ...(card === undefined ? [] : [`driver ${card.driver}`, card.memory]),
    ...(result.gpus > 1 ? [`one of ${result.gpus} GPUs`] : []),
  ].filter(Boolean);
  const where = bus === undefined ? '' : `, bus ${bus}`;
  const warning = software
    ? ' **A CPU driver: its times say nothing about a GPU.**'
    : '';
  const details = about.length === 0 ? '' : ` (${about.join(', ')})`;
  return (
    `${date}, ${name}${where}${details}; Node ${node.slice(1)}, ` +
    `Gradwire ${gradwire}.${warning}`
  );
}

function bitsText(steps: readonly StepResult<Bits>[]): string[] {
  if (steps.length === 0) return [];
  const rows = steps.map((step) => {
    const { result } = step;
    const counts =
      result === undefined
        ? ['', '', '']
        : [result.passed, result.failed.length, result.skipped].map(String);
    return [step.step.replace('bits-', ''), ...counts, reasonOf(step)];
  });
  return [table(['tests of bits', 'passed', 'failed', 'left to the soak', ''], rows)];
}

function kernelsText(
  steps: readonly StepResult<KernelTimes>[],
  peers: PeerTimes | undefined,
): string[] {
  const rows = steps.flatMap(({ result }) =>
    (result?.rows ?? []).map(({ kernel, n, ms, gigabytesPerSecond, share }) => {
      const row = peers?.rows.find((one) => one['n'] === n);
      const theirs = (PEERS[kernel] ?? []).map((name) => row?.[name]);
      const isSlower =
        kernel === RACED.kernel && n === RACED.n && ms >= (theirs[0] ?? Infinity);
      const isFar = ONE_PASS.has(kernel) && share !== undefined && share < GOAL;
      const ofCopy = share === undefined ? '' : `${(100 * share).toFixed(0)} %`;
      return [
        ...[kernel, n.toLocaleString('en-US')],
        `${figure(ms)}${isSlower ? ', goal missed' : ''}`,
        ...[figure(gigabytesPerSecond), `${ofCopy}${isFar ? ', goal missed' : ''}`],
        theirs.map(figure).filter(Boolean).join('; '),
      ];
    }),
  );
  if (rows.length === 0) return [];
  const beside =
    peers === undefined
      ? ''
      : ` PyTorch ${peers.torch} (CUDA ${peers.cuda ?? 'none'}, Python ${peers.python}) on ` +
        `${[peers.device, peers.bus].filter(Boolean).join(', ')}: between two events of its ` +
        'stream; the second time of QSGD is by its definition.';
  return [
    `Kernels by the device’s own clock, medians of seven calls.${beside}`,
    table(['kernel', 'n', 'ms', 'GB/s', 'of copy', 'PyTorch, ms'], rows),
  ];
}

function runsText(steps: readonly StepResult<RunSteps>[]): string[] {
  if (steps.length === 0) return [];
  const runs = steps.map((step) => {
    const { result } = step;
    if (result === undefined) return [step.step, '', '', '', '', reasonOf(step)];
    const { peakMiB, beforeMiB = 0, consistent, switches, backend } = result;
    const where = [backend, ...new Set(result.devices)].join(', ');
    const replicas = consistent === undefined ? '' : consistent ? 'yes' : 'no';
    return [
      ...[nameOf(result), where, peakMiB === undefined ? '' : `${peakMiB - beforeMiB}`],
      ...[String(switches), replicas, [reasonOf(step), ...result.notices].join(' ')],
    ];
  });
  const phases = phasesOf('whole');
  const methods = steps.flatMap(({ result }) =>
    (result?.methods ?? []).map((method) => [
      ...[nameOf(result!), method.method, figure(method.wallMs)],
      ...phases.map((phase) => figure(method.phasesMs[phase])),
      String(method.payload),
    ]),
  );
  const times =
    methods.length === 0
      ? []
      : [
          'Steps, ms, medians without the first two after a start or a switch:',
          table(['model, ranks', 'method', 'step', ...phases, 'bytes'], methods),
        ];
  return [
    'Whole runs, from dense exchanges to top-k 1 % in mid-run; ranks of one machine share its GPU:',
    table(
      ['model, ranks', 'computed on', 'memory, MiB', 'switches', 'equal replicas', ''],
      runs,
    ),
    ...times,
  ];
}

const nameOf = ({ model, ranks }: RunSteps): string => `${model}, ${ranks}`;
