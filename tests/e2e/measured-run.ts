/**
 * A run that has ended, with every measure that its page draws: 30 ranks on three machines, the last
 * of which has the straggler; iterations that are traced, sums of buckets, the use of machines.
 */
import type { RunStore } from '../../src/main/store/run-store.ts';
import { zeroPhases, type Phase } from '../../src/shared/records/phases.ts';
import type { RunRecord } from '../../src/shared/records/record-kinds.ts';
import {
  done,
  entries,
  iterationRecord,
  sampleSpec,
  started,
} from '../unit/main/sample-records.ts';

/** The run's id. */
export const MEASURED = 'measured';

const MACHINES = [
  'node-a.cluster.example.org',
  'node-b.cluster.example.org',
  'node-c',
] as const;
/** More than a page shows of a machine until it is asked for all. */
const RANKS_EACH = 10;
const RANKS = MACHINES.length * RANKS_EACH;
const ITERATIONS = 120;
const STRAGGLER = RANKS - 3;
/** The iteration that takes longer than those around it. */
export const LONG = 60;
/** Iterations from one record of a measure to the next. */
const INTERVAL = 10;
const MS = 1e6;
const ALL_RANKS = Array.from({ length: RANKS }, (_, rank) => rank);

const BUCKETS = [
  { first: 'encoder.layers.0.attention.query.weight', elements: 2_359_296 },
  { first: 'encoder.layers.1.attention.query.weight', elements: 1_179_648 },
  { first: 'decoder.weight', elements: 40_200 },
  { first: 'embedding.weight', elements: 2_010 },
].map(({ first, elements }, place) => ({
  name: `${first} … ${first.replace('weight', 'bias')}`,
  elements,
  /** Milliseconds of its phases, all four of which together take a third of an iteration. */
  scale: [1, 0.6, 0.3, 0.1][place]!,
}));

type Times = Readonly<Partial<Record<Phase, number>>>;

/** Milliseconds of a rank's iteration; the straggler computes longer, and others wait for it. */
function timesOf(rank: number, iteration: number): Times {
  const late = iteration === LONG ? 40 : 6;
  const uneven = (of: number): number => ((7 * iteration + 3 * of) % 11) / 10;
  const isLate = rank === STRAGGLER;
  return {
    data: 0.4,
    compute: 9 + uneven(rank) + (isLate ? late : 0),
    compress: 1.2,
    send: 0.8,
    receive: 1.1,
    wait: isLate ? 0.2 : late + 0.2 + uneven(STRAGGLER) - uneven(rank),
    reduce: 0.5,
    decompress: 0.4,
    apply: 0.6,
  };
}

const at = (iteration: number): number =>
  started.at + 25 * iteration + (iteration > LONG ? 40 : 0);

function measured(rank: number, iteration: number): RunRecord {
  const times = timesOf(rank, iteration);
  const { wait = 0 } = times;
  return {
    ...iterationRecord(iteration, rank),
    at: at(iteration),
    wall: Object.values(times).reduce((sum, time) => sum + time, 0),
    phases: { ...zeroPhases(), ...times },
    waitedFor: rank === STRAGGLER ? {} : { [STRAGGLER]: wait },
    loss: 2.3 * 0.98 ** iteration + rank / 500,
    nnzReduced: 60,
    density: 0.01,
    residualNorm: 3 + iteration / 50,
  };
}

/** A trainer's spans and an engine's, one exchange of each bucket, and messages around the ring. */
function trace(rank: number, iteration: number): RunRecord {
  const times = timesOf(rank, iteration);
  const ns = (time: number): number => Math.round(time * MS);
  const { apply = 0, compute = 0, data = 0, wait = 0 } = times;
  type Span = Extract<RunRecord, { type: 'trace' }>['spans'][number];
  type Message = Extract<RunRecord, { type: 'trace' }>['messages'][number];
  const spans: Span[] = [
    [0, 'data', -1, -1, 0, ns(data), 0],
    [0, 'compute', -1, -1, ns(data), ns(compute), 0],
  ];
  const messages: Message[] = [];
  const [before, after] = [(rank + RANKS - 1) % RANKS, (rank + 1) % RANKS];
  let now = data + compute;
  const add = (phase: Phase, bucket: number, time: number, peer = -1): void => {
    spans.push([1, phase, bucket, peer, ns(now), ns(time), 0]);
    now += time;
  };
  const share = BUCKETS.reduce((sum, { scale }) => sum + scale, 0);
  for (const [bucket, { scale, elements }] of BUCKETS.entries()) {
    const part = (phase: Phase): number => ((times[phase] ?? 0) * scale) / share;
    add('compress', bucket, part('compress'));
    add('send', bucket, part('send'), after);
    messages.push([0, after, bucket, 16 + bucket, 0, elements, ns(now)]);
    if (bucket === 0) add('wait', bucket, wait, STRAGGLER);
    add('receive', bucket, part('receive'), before);
    messages.push([1, before, bucket, 16 + bucket, 0, elements, ns(now)]);
    add('reduce', bucket, part('reduce'));
    add('decompress', bucket, part('decompress'));
  }
  spans.push([0, 'apply', -1, -1, ns(now), ns(apply), 0]);
  return {
    type: 'trace',
    at: at(iteration),
    rank,
    iteration,
    origin: at(iteration),
    wall: ns(now + apply),
    threads: ['trainer', 'engine'],
    buckets: BUCKETS.map(({ name }) => name),
    spans,
    messages,
  };
}

const bucketSums = (rank: number, from: number): RunRecord => ({
  type: 'bucket-sums',
  at: at(from + INTERVAL),
  rank,
  from,
  to: from + INTERVAL,
  exchanges: INTERVAL,
  agreement: 0.7,
  buckets: BUCKETS.map(({ elements, name, scale }, place) => ({
    name,
    tensors: 6 - place,
    method: 'topk',
    collective: 'sparse-allgather',
    length: elements,
    compress: 6 * scale,
    send: 4 * scale,
    receive: 5 * scale,
    wait: place === 0 && rank !== STRAGGLER ? 60 + (from === LONG ? 34 : 0) : 1,
    reduce: 2 * scale * (1 + (from % 30) / 30),
    decompress: 2 * scale,
    begin: 20 * place,
    end: 20 * (place + 1),
    payload: Math.round(0.08 * elements),
    sent: Math.round(0.1 * elements),
    nnzLocal: Math.round(0.1 * elements),
    nnzReduced: Math.round(0.8 * elements),
    residualNorm: 3 * scale + from / 100,
    error: 0.5 + from / 500,
  })),
});

/** A machine has four GPUs, each of two ranks. */
const busOf = (rank: number): string =>
  `00000000:${(0x1a + 0x20 * (rank % 4)).toString(16).toUpperCase()}:00.0`;

const GPU_BYTES = 80 * 2 ** 30;

const utilisation = (machine: number, from: number): RunRecord => ({
  type: 'utilisation',
  at: at(from + INTERVAL),
  node: MACHINES[machine]!,
  from,
  to: from + INTERVAL,
  wall: 25 * INTERVAL,
  processors: {
    count: 64,
    busy: machine === 2 ? 60 : 24 + (from % 40) / 8,
    peak: 62,
    own: 0.25,
  },
  memory: { total: 2 ** 39, used: (120 + 30 * machine + from / 10) * 2 ** 30 },
  network: { sent: 1.1e9 + 1e6 * from, received: 1.2e9, loopback: 3e8 },
  gpus: Array.from({ length: 4 }, (_, gpu) => ({
    bus: busOf(gpu),
    name: 'NVIDIA H100 80GB HBM3',
    busy: 0.9 - 0.1 * machine - (from % 30) / 100,
    memory: (30 + gpu) * 2 ** 30,
    total: GPU_BYTES,
  })),
  ranks: ALL_RANKS.slice(machine * RANKS_EACH, (machine + 1) * RANKS_EACH).map(
    (rank) => ({ rank, busy: 2.5, memory: 6 * 2 ** 30 }),
  ),
});

/** Stores it as the machines' journals bring it. */
export function storeMeasuredRun(store: RunStore): void {
  const spec = sampleSpec({
    name: 'bert on three machines',
    world: { ranks: RANKS, nodes: MACHINES },
    iterations: ITERATIONS,
  });
  store.create({ id: MEASURED, spec, switches: [], createdAt: started.at });
  for (const [machine, node] of MACHINES.entries()) {
    store.records.append(MEASURED, entries(recordsOf(machine)), { node });
  }
}

const recordsOf = (machine: number): readonly RunRecord[] => {
  const node = MACHINES[machine]!;
  const ranks = ALL_RANKS.slice(machine * RANKS_EACH, (machine + 1) * RANKS_EACH);
  const processes = ranks.map((rank) => {
    const device = 'NVIDIA H100 80GB HBM3';
    return { rank, pid: 100 + rank, node, device, bus: busOf(rank) };
  });
  const intervals = Array.from(
    { length: ITERATIONS / INTERVAL },
    (_, index) => index * INTERVAL,
  );
  const whole = Array.from({ length: ITERATIONS }, (_, iteration) => iteration);
  return [
    { ...started, ranks: RANKS, processes },
    ...whole.flatMap((iteration) => ranks.map((rank) => measured(rank, iteration))),
    ...[LONG - 1, LONG, LONG + 1].flatMap((iteration) =>
      ranks.map((rank) => trace(rank, iteration)),
    ),
    ...intervals.flatMap((from) => [
      ...ranks.map((rank) => bucketSums(rank, from)),
      utilisation(machine, from),
    ]),
    machine === 0
      ? { ...done, at: at(ITERATIONS), iterations: ITERATIONS }
      : { type: 'finished', at: at(ITERATIONS), node },
  ];
};
