/** Runs of the kit: models, ranks that share the GPU, a switch in mid-run. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import path from 'node:path';
import type { IterationRecord } from '../../src/shared/records/iteration.ts';
import type { RunRecord } from '../../src/shared/records/record-kinds.ts';
import { usedMiB } from './nvidia.ts';
import { failureOf, runProgram } from './program.ts';
import type { MethodSteps, Outcome, RunSteps } from './results.ts';
import { endProcessesOf, type Surroundings } from './surroundings.ts';

export interface KitRun {
  readonly name: string;
  readonly preset: string;
  readonly ranks: number;
  readonly iterations: number;
  readonly settings: readonly string[];
}

/** No emulated compute time or link: what is left is the exchange. Without overlap it is on the GPU. */
const EXCHANGE = ['network=null', 'overlap=false'];
const LARGE = 'workload.synthetic={profile: vgg-16, computeMs: 1}';
const SMALL = 'workload.synthetic={layers: [300000, 50000], computeMs: 1}';

/**
 * All but the last train on embedded data, with gradient, compression and optimiser on the
 * GPU. The last generates 138 million elements and uploads them, as its phase `compute`;
 * nothing else of it is on the CPU. Few iterations; `quick` is for drivers that compute on the CPU.
 */
export function kitRuns(quick: boolean, folder: string): readonly KitRun[] {
  const images = { preset: 'shapes-resnet', iterations: quick ? 4 : 20 };
  const data = quick ? fewImages(folder) : ['workload.batchPerRank=32'];
  const models = [
    { name: 'fnn3', preset: 'quickstart', iterations: quick ? 8 : 60, settings: [] },
    { name: 'resnet-20', ...images, settings: data },
    { name: 'vgg-16', ...images, settings: [...data, 'workload.model=vgg-16'] },
    {
      name: 'synthetic-vgg-16', preset: 'synthetic-vgg',
      iterations: quick ? 8 : 12,
      settings: [...EXCHANGE, quick ? SMALL : LARGE],
    },
  ];
  return models.flatMap((model) =>
    [1, 2].map((ranks) => ({ ...model, name: `${model.name}-${ranks}`, ranks })),
  );
}

/**
 * Noise in CIFAR-10's format: a run ends with a look at all test images, and at a thousand of
 * the others for the norms. That of many images takes a CPU driver minutes.
 */
function fewImages(folder: string): readonly string[] {
  const images = path.join(folder, 'few-images');
  mkdirSync(images, { recursive: true });
  const parts = [1, 2, 3, 4, 5].map((number) => `data_batch_${number}`);
  for (const name of [...parts, 'test_batch']) {
    const records = [0, 1].map((label) =>
      Buffer.concat([Buffer.of(label), randomBytes(3 * 32 * 32)]),
    );
    writeFileSync(path.join(images, `${name}.bin`), Buffer.concat(records));
  }
  return [
    ...['workload.dataset=cifar-10', `workload.data=${images}`],
    'workload.batchPerRank=1',
  ];
}

/** Trains once, dense half of the way, then top-k. */
export async function measureRun(
  app: string,
  { name, preset, ranks, iterations, settings }: KitRun,
  { home, machine, own }: Surroundings,
  seconds: number,
): Promise<Outcome<RunSteps>> {
  if (ranks > 1 && !hasLoopback()) {
    const next = 'Bring it up: ip link set lo up';
    return { failure: `ranks of one machine meet on loopback, which is down. ${next}` };
  }
  const set = [
    ...['backend=webgpu', 'world.shareGpu=true', `world.ranks=${ranks}`],
    ...[`iterations=${iterations}`, 'evaluateEvery=0', 'exchange={method: none}'],
    ...settings,
  ];
  const memory = await watchMemory(machine);
  const finished = await runProgram(
    process.execPath,
    [
      ...[path.join(app, 'dist/cli/cli.js'), 'run', preset, '--json'],
      ...['--switch', `${iterations / 2}:method=topk,ratio=0.01`],
      ...set.flatMap((one) => ['--set', one]),
    ],
    { seconds, env: own },
  );
  if (finished.cut) endProcessesOf(home);
  const records = finished.stdout.split('\n').flatMap(parseRecord);
  const peak = await memory.end(busesOf(records));
  const found = summarize(name, ranks, records);
  const failure = failureOf(finished);
  return {
    ...(found === undefined ? {} : { result: { ...found, ...peak } }),
    ...(failure === undefined ? {} : { failure }),
  };
}

/** An interface that is down is not listed. */
const hasLoopback = (): boolean =>
  Object.values(networkInterfaces()).some((one) => one?.some(({ internal }) => internal));

const busesOf = (records: readonly RunRecord[]): readonly string[] =>
  records
    .filter((record) => record.type === 'started')
    .flatMap(({ processes }) => processes.flatMap(({ bus }) => bus ?? []));

/** A run that was cut may end in the middle of a line. */
function parseRecord(line: string): RunRecord[] {
  try {
    return [JSON.parse(line) as RunRecord];
  } catch {
    return [];
  }
}

function summarize(
  name: string,
  ranks: number,
  records: readonly RunRecord[],
): RunSteps | undefined {
  const started = records.find((record) => record.type === 'started');
  if (started === undefined) return undefined;
  const done = records.find((record) => record.type === 'done');
  const iterations = records.filter((record) => record.type === 'iteration');
  const methods = [...new Set(iterations.map(({ method }) => method))];
  return {
    model: name.replace(/-\d$/, ''), ranks, backend: started.backend,
    devices: started.processes.map(({ device, bus }) => `${device} ${bus ?? ''}`.trim()),
    methods: methods.map((method) => methodSteps(method, iterations)),
    switches: records.filter(({ type }) => type === 'switch').length,
    consistent: done?.consistent, weights: done?.weights,
    notices: [
      ...new Set(
        records.flatMap((record) =>
          record.type === 'notice' && record.level !== 'info' ? record.code : [],
        ),
      ),
    ],
  };
}

function methodSteps(method: string, all: readonly IterationRecord[]): MethodSteps {
  const own = all.filter((record) => record.method === method);
  const first = Math.min(...own.map(({ iteration }) => iteration));
  const settled = own.filter(({ iteration }) => iteration >= first + 2);
  const counted = settled.length > 0 ? settled : own;
  const names = Object.keys(counted[0]!.phases) as (keyof IterationRecord['phases'])[];
  return {
    method,
    iterations: new Set(counted.map(({ iteration }) => iteration)).size,
    wallMs: median(counted.map(({ wall }) => wall)),
    phasesMs: Object.fromEntries(
      names.map((phase) => [phase, median(counted.map(({ phases }) => phases[phase] ?? 0))]),
    ),
    payload: median(counted.map(({ bytes }) => bytes.payload ?? NaN)),
  };
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;

/** Polls the memory in use of each GPU; nothing where nvidia-smi does not tell it. */
async function watchMemory(env: NodeJS.ProcessEnv): Promise<{
  /** @param buses the GPUs of the run; all of them if it does not know */
  end(buses: readonly string[]): Promise<Pick<RunSteps, 'peakMiB' | 'beforeMiB'>>;
}> {
  const before = await usedMiB(env);
  if (before.size === 0) return { end: () => Promise.resolve({}) };
  const peaks = new Map(before);
  let watching = true;
  const watched = (async () => {
    while (watching) {
      await new Promise((resolve) => setTimeout(resolve, 250));
      for (const [bus, used] of await usedMiB(env)) {
        peaks.set(bus, Math.max(peaks.get(bus) ?? 0, used));
      }
    }
  })();
  return {
    end: async (buses) => {
      watching = false;
      await watched;
      const own = [...before.keys()].filter((bus) => buses.includes(bus));
      const counted = own.length > 0 ? own : [...before.keys()];
      const sum = (of: ReadonlyMap<string, number>): number =>
        counted.reduce((total, bus) => total + (of.get(bus) ?? 0), 0);
      return { peakMiB: sum(peaks), beforeMiB: sum(before) };
    },
  };
}
