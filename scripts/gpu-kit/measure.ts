/**
 * Everything that the kit measures, in order of worth. What is not done after 460 s is cut,
 * so that whoever gives up after eight minutes has all files (steps.ts).
 *
 *   node measure.js [--software] [--quick] [--only STEPS] [--seconds S] [--began EPOCH]
 *     [--work DIR] OUT
 *
 * --software accepts a CPU driver, and takes its time. Exit code 3: WebGPU finds no GPU here.
 * 1: a step failed or was cut.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { TestOutcome } from './collected-tests.ts';
import { diagnosis, drivers, lentLibraries, Libraries } from './driver.ts';
import { nvidiaGpus } from './nvidia.ts';
import { timePeers } from './peers.ts';
import { endAll, failureOf, runProgram, type Finished } from './program.ts';
import type { Bits, DeviceSeen, KernelTimes, Outcome } from './results.ts';
import { kitRuns, measureRun } from './runs.ts';
import { DEVICE, Steps } from './steps.ts';
import { endProcessesOf, surroundingsIn } from './surroundings.ts';

/** Time for all steps. Killing what runs and removing files takes a few seconds more. */
const TOTAL_S = 460;
/** Time with --software, where nobody gives up, and nobody needs the measured times. */
const SOFTWARE_S = 7200;
const PATIENCE = 20;
/** Bits of every kernel and every method; then of what builds on them. */
const FIRST_FILES = ['device-kernels', 'device-methods', 'golden', 'device-quantizers'];
const LATER_FILES = [
  ...['trainer-webgpu', 'gpu-training', 'device-site', 'device-exchanges'],
  ...['gpu-device', 'shared-device', 'synthetic-gradient'],
];

const { values: options, positionals } = parseArgs({
  options: {
    software: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    seconds: { type: 'string' },
    only: { type: 'string', default: '' },
    /** When run.sh began: to unpack takes some of the time. */
    began: { type: 'string' },
    work: { type: 'string' },
  },
  allowPositionals: true,
});
const out = path.resolve(positionals[0] ?? 'gpu-report');
const work = path.resolve(options.work ?? mkdtempSync(path.join(tmpdir(), 'gw.')));
const here = import.meta.dirname;
/** The ending of scripts: bundles in the kit, sources in a checkout. */
const ending = path.extname(import.meta.filename);
const app = path.join(here, '../..');
const surroundings = surroundingsIn(work);
const total = Number(options.seconds ?? (options.software ? SOFTWARE_S : TOTAL_S));
const began = options.began === undefined ? Date.now() : 1000 * Number(options.began);
if (!(total > 0) || !(began > 0)) {
  process.stderr.write('gpu-kit: --seconds and --began need numbers\n');
  process.exit(2);
}
const steps = new Steps(out, began + 1000 * total, options.only.split(','));
const patience = options.software ? PATIENCE : 1;

/** Whether nobody else removes the folder of the work. */
let removes = options.work === undefined;
process.once('exit', () => {
  endAll();
  endProcessesOf(surroundings.home);
  if (removes) rmSync(work, { recursive: true, force: true, maxRetries: 5 });
});
process.once('SIGHUP', () => process.exit(129));
process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));
const parent = process.ppid;
setInterval(() => {
  if (process.ppid === parent) return;
  // Whoever started this was killed: nobody waits for it, or removes what it leaves.
  removes = true;
  process.exit(143);
}, 500).unref();

const runNode = (
  script: string,
  args: readonly string[],
  seconds: number,
  more: NodeJS.ProcessEnv = {},
) =>
  runProgram(process.execPath, [path.join(here, `${script}${ending}`), ...args], {
    seconds, env: { ...surroundings.own, ...more },
  });

/** The output of a program as JSON, or why it did not. */
function printed<T>(finished: Finished): Outcome<T> {
  const failure = failureOf(finished);
  if (failure !== undefined) return { failure };
  return { result: JSON.parse(finished.stdout) as T };
}

/** Our own reason, which comes last, then what the loader said of it, each once. */
const reasonsOf = ({ stderr }: Finished): string =>
  [...new Set(stderr.split('\n').toReversed())]
    .filter((line) => line.trim() !== '')
    .slice(0, 12)
    .join('\n');

async function findDevice(seconds: number): Promise<Outcome<DeviceSeen>> {
  const nvidia = await nvidiaGpus(surroundings.machine);
  const packed = path.join(work, 'lib');
  const libraries = await Libraries.of(surroundings.own, packed);
  const lent = lentLibraries(packed, libraries);
  const tried: string[] = [];
  const folders = { manifests: work, lent: packed };
  for (const driver of drivers(surroundings.own, libraries, folders)) {
    const before = { ...surroundings.own };
    Object.assign(surroundings.own, driver.env);
    const flags = options.software ? ['--software'] : [];
    // The loader then names what a driver lacks.
    const loud = { VK_LOADER_DEBUG: 'error' };
    const finished = await runNode('device', flags, seconds / 3, loud);
    const failure = failureOf(finished);
    if (failure === undefined) {
      const manifest = readFileSync(path.join(app, 'package.json'), 'utf8');
      const { version } = JSON.parse(manifest) as { version: string };
      const seen = JSON.parse(finished.stdout) as DeviceSeen;
      const about = { node: process.version, gradwire: version, driver: driver.name };
      return { result: { ...seen, ...about, nvidia, tried, lent } };
    }
    tried.push(`${driver.name}: ${finished.cut ? failure : reasonsOf(finished)}`);
    for (const name of Object.keys(driver.env)) {
      if (before[name] === undefined) Reflect.deleteProperty(surroundings.own, name);
      else surroundings.own[name] = before[name];
    }
  }
  const cards = nvidia.map((gpu) => `nvidia-smi: ${Object.values(gpu).join(', ')}`);
  const libs = lent.length > 0 ? [`lent by the kit: ${lent.join(' ')}`] : [];
  return { failure: [...tried, ...cards, ...libs, ...diagnosis(libraries)].join('\n') };
}

async function testBits(file: string, seconds: number): Promise<Outcome<Bits>> {
  const finished = await runNode('run-tests', [file], seconds);
  const outcomes = finished.stdout.split('\n').flatMap((line): TestOutcome[] => {
    try {
      return [JSON.parse(line) as TestOutcome];
    } catch {
      return []; // cut in the middle of a line
    }
  });
  const count = (of: TestOutcome['outcome']) =>
    outcomes.filter(({ outcome }) => outcome === of).length;
  const failed = outcomes.filter(({ outcome }) => outcome === 'failed');
  const result: Bits = { passed: count('passed'), skipped: count('skipped'), failed };
  const wrong =
    failed.length > 0
      ? `${failed.length} tests failed, first: ${failed[0]!.name}`
      : undefined;
  const none = result.passed === 0 ? 'no test passed' : undefined;
  const failure = failureOf(finished) ?? wrong ?? none;
  return failure === undefined ? { result } : { result, failure };
}

const bits = async (file: string): Promise<void> => {
  await steps.run(`bits-${file}`, 60 * patience, (seconds) => testBits(file, seconds));
};

/** Measures all that needs a GPU, and PyTorch beside it. */
async function measure({ bus, nvidia }: DeviceSeen): Promise<void> {
  for (const file of FIRST_FILES) await bits(file);
  const sizes = options.quick ? [100_000] : [1_000_000, 25_000_000, 66_000_000];
  for (const n of sizes) {
    await steps.run<KernelTimes>(`kernels-${n}`, 25 * patience, async (seconds) =>
      printed(await runNode('gpu', ['--n', String(n), '--json'], seconds)),
    );
  }
  await steps.run('peers', 90, (seconds) =>
    timePeers({ env: surroundings.machine, gpus: nvidia, bus, sizes, seconds }),
  );
  for (const run of kitRuns(options.quick, work)) {
    await steps.run(`run-${run.name}`, 40 * patience, (seconds) =>
      measureRun(app, run, surroundings, seconds),
    );
  }
  for (const file of LATER_FILES) await bits(file);
}

mkdirSync(out, { recursive: true });
const device = await steps.run<DeviceSeen>(DEVICE, 45, findDevice);
if (device === undefined) {
  process.stderr.write(
    `gpu-kit: WebGPU finds no GPU here; ${path.join(out, 'device.json')} says what was tried\n`,
  );
  process.exit(3);
}
await measure(device);
process.exit(steps.failures > 0 ? 1 : 0);
