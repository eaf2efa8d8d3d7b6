/** Runs of the kit: models, ranks that share the GPU, a switch in mid-run. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { IterationRecord, RunRecord } from '../../src/shared/records.ts';
import type { MethodSteps, RunSteps } from './results.ts';
import { runProgram } from './step.ts';

export interface KitRun {
  readonly name: string;
  readonly preset: string;
  readonly ranks: number;
  readonly iterations: number;
  readonly settings: readonly string[];
}

const small = ['workload.synthetic={layers: [300000, 50000], computeMs: 20}'];

/** Few iterations; `quick` is for drivers that compute on the CPU, where ResNet-20 takes minutes. */
export function kitRuns(quick: boolean): readonly KitRun[] {
  const models = [
    { name: 'fnn3', preset: 'quickstart', iterations: quick ? 8 : 60, settings: [] },
    {
      name: 'resnet-20',
      preset: 'shapes-resnet',
      iterations: 20,
      settings: ['workload.batchPerRank=32'],
    },
    {
      name: 'synthetic-vgg-16',
      preset: 'synthetic-vgg',
      iterations: quick ? 6 : 12,
      // The exchange alone is of interest: no emulated link.
      settings: ['network=null', 'overlap=false', ...(quick ? small : [])],
    },
  ];
  const chosen = models.filter(({ name }) => !quick || name !== 'resnet-20');
  return chosen.flatMap((model) =>
    [1, 2].map((ranks) => ({ ...model, name: `${model.name}-${ranks}`, ranks })),
  );
}

/** Trains once, dense half of the way, then top-k. */
export async function measureRun(
  app: string,
  { name, preset, ranks, iterations, settings }: KitRun,
  seconds: number,
): Promise<{ steps?: RunSteps; failure?: string }> {
  const set = [
    ...['backend=webgpu', 'world.shareGpu=true', `world.ranks=${ranks}`],
    ...[`iterations=${iterations}`, 'evaluateEvery=0', 'exchange={method: none}'],
    ...settings,
  ];
  const memory = await watchMemory();
  const { code, cut, stdout, stderr } = await runProgram(
    process.execPath,
    [
      ...[path.join(app, 'dist/cli/cli.js'), 'run', preset, '--json'],
      ...['--switch', `${iterations / 2}:method=topk,ratio=0.01`],
      ...set.flatMap((one) => ['--set', one]),
    ],
    { seconds },
  );
  const peak = await memory.end();
  if (cut) endSupervisor();
  const records = stdout.split('\n').flatMap(parseRecord);
  const found = summarize(name, ranks, records);
  const steps = found === undefined ? {} : { steps: { ...found, ...peak } };
  if (cut) return { ...steps, failure: `cut after ${seconds.toFixed(0)} s` };
  if (code === 0) return steps;
  return { ...steps, failure: `exit code ${code}: ${stderr.trim().slice(-2000)}` };
}

/** A run outlives its command: one that was cut would use the GPU in the next step. */
function endSupervisor(): void {
  const home = process.env['GRADWIRE_HOME'];
  if (home === undefined) return;
  const title = `gradwire supervisor ${home}`;
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
      // Its workers end with it.
      if (command.trim() === title) process.kill(Number(name), 'SIGKILL');
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      // It has ended by itself, or belongs to somebody else.
      if (!['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(code)) throw error;
    }
  }
}

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
    ...{ model: name.replace(/-\d$/, ''), ranks, backend: started.backend },
    devices: started.processes.map(({ device, bus }) => `${device} ${bus ?? ''}`.trim()),
    methods: methods.map((method) => methodSteps(method, iterations)),
    switches: records.filter(({ type }) => type === 'switch').length,
    ...{ consistent: done?.consistent, weights: done?.weights },
    notices: [
      ...new Set(
        records.filter((record) => record.type === 'notice').map(({ code }) => code),
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
    payload: median(counted.map(({ bytes }) => bytes.payload)),
  };
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;

/** Polls the memory in use of all GPUs together; nothing without nvidia-smi. */
async function watchMemory(): Promise<{
  end(): Promise<Pick<RunSteps, 'peakMiB' | 'beforeMiB'>>;
}> {
  const before = await usedMiB();
  if (before === undefined) return { end: () => Promise.resolve({}) };
  let peak = before;
  let watching = true;
  const watched = (async () => {
    while (watching) {
      await new Promise((resolve) => setTimeout(resolve, 250));
      peak = Math.max(peak, (await usedMiB()) ?? 0);
    }
  })();
  return {
    end: async () => {
      watching = false;
      await watched;
      return { peakMiB: peak, beforeMiB: before };
    },
  };
}

async function usedMiB(): Promise<number | undefined> {
  const { code, stdout } = await runProgram(
    'nvidia-smi',
    ['--query-gpu=memory.used', '--format=csv,noheader,nounits'],
    { seconds: 10 },
  );
  if (code !== 0) return undefined;
  return stdout
    .trim()
    .split('\n')
    .reduce((sum, line) => sum + Number(line), 0);
}
