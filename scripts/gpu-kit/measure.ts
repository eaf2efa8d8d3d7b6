/**
 * Everything that the kit measures, in order of worth, for at most eight minutes. Each step has
 * its time limit and its own JSON file in OUT, written as soon as it ends (results.ts).
 *
 *   node measure.js [--software] [--quick] [--work DIR] OUT
 *
 * Exit code 3: WebGPU finds no GPU here. 1: a step failed or was cut.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { TestOutcome } from './collected-tests.ts';
import type { Bits, DeviceSeen, KernelTimes, PeerTimes, StepResult } from './results.ts';
import { kitRuns, measureRun } from './runs.ts';
import { endAll, runProgram, type Finished } from './step.ts';

const TOTAL_S = 470;
/** In order of worth. */
const TEST_FILES = [
  ...['device-kernels', 'device-methods', 'golden', 'device-quantizers'],
  ...['device-exchanges', 'device-site', 'gpu-training', 'gpu-device', 'shared-device'],
];

const { values: options, positionals } = parseArgs({
  options: {
    software: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    work: { type: 'string' },
  },
  allowPositionals: true,
});
const out = path.resolve(positionals[0] ?? 'gpu-report');
const work = path.resolve(options.work ?? out);
const here = import.meta.dirname;
/** In the kit, bundles; from a checkout, sources. */
const ending = path.extname(import.meta.filename);
const app = ending === '.js' ? path.join(here, '..') : path.join(here, '../..');
const began = performance.now();
let failures = 0;

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    endAll();
    process.exit(signal === 'SIGINT' ? 130 : 143);
  });
}

const left = (limit: number): number =>
  Math.min(limit, TOTAL_S - (performance.now() - began) / 1000);

/** A step's file, whatever becomes of the step. */
async function step<T>(
  name: string,
  limit: number,
  work: (seconds: number) => Promise<Omit<StepResult<T>, 'step' | 'began' | 'seconds'>>,
): Promise<T | undefined> {
  const start = performance.now();
  const date = new Date().toISOString();
  const seconds = left(limit);
  const outcome =
    seconds < 5 ? { failure: 'no time was left for it' } : await tried(() => work(seconds));
  const took = (performance.now() - start) / 1000;
  const file: StepResult<T> = { step: name, began: date, seconds: took, ...outcome };
  writeFileSync(path.join(out, `${name}.json`), `${JSON.stringify(file, undefined, 1)}\n`);
  if (file.failure !== undefined) failures++;
  const said = file.failure ?? file.skipped ?? 'done';
  console.log(`${name}: ${said.split('\n')[0]!.slice(0, 200)} (${took.toFixed(1)} s)`);
  return file.result;
}

async function tried<T>(
  work: () => Promise<Omit<StepResult<T>, 'step' | 'began' | 'seconds'>>,
): Promise<Omit<StepResult<T>, 'step' | 'began' | 'seconds'>> {
  try {
    return await work();
  } catch (error) {
    return { failure: String(error) };
  }
}

const runNode = (script: string, args: readonly string[], seconds: number) =>
  runProgram(process.execPath, [path.join(here, `${script}${ending}`), ...args], {
    seconds,
  });

function failureOf({ code, cut, seconds, stderr }: Finished): string | undefined {
  if (cut) return `cut after ${seconds.toFixed(0)} s`;
  return code === 0 ? undefined : `exit code ${code}: ${stderr.trim().slice(-2000)}`;
}

/** What a program printed as JSON, or why it did not. */
function printed<T>(finished: Finished): { result?: T; failure?: string } {
  const failure = failureOf(finished);
  if (failure !== undefined) return { failure };
  return { result: JSON.parse(finished.stdout) as T };
}

/**
 * Driver manifests to try: the machine's, then one for a driver of NVIDIA that came without
 * its manifest, as in containers. The second library needs nothing of X11.
 */
function manifests(): readonly (string | undefined)[] {
  if (process.env['VK_ICD_FILENAMES'] !== undefined) return [undefined];
  const written = ['libGLX_nvidia.so.0', 'libEGL_nvidia.so.0'].map((library) => {
    const file = path.join(work, `${library}.json`);
    const icd = { library_path: library, api_version: '1.3.0' };
    writeFileSync(file, JSON.stringify({ file_format_version: '1.0.0', ICD: icd }));
    return file;
  });
  return [undefined, ...written];
}

/** What tells why there is no adapter: the kernel's driver, and the libraries there. */
async function diagnosis(): Promise<string> {
  const version = '/proc/driver/nvidia/version';
  const kernel = existsSync(version) ? readFileSync(version, 'utf8') : `no ${version}`;
  const { stdout } = await runProgram('sh', ['-c', 'PATH=$PATH:/sbin ldconfig -p'], {
    seconds: 10,
  });
  const libraries = stdout.split('\n').filter((one) => /nvidia|vulkan/.test(one));
  const folders = ['/etc/vulkan/icd.d', '/usr/share/vulkan/icd.d'].filter(existsSync);
  const icds = folders.flatMap((folder) =>
    readdirSync(folder).map((one) => path.join(folder, one)),
  );
  return [kernel, ...libraries, ...icds].map((line) => line.trim()).join('\n');
}

async function findDevice(seconds: number): Promise<{
  result?: DeviceSeen;
  failure?: string;
}> {
  const smi = await runProgram(
    'nvidia-smi',
    [
      '--query-gpu=name,driver_version,pci.bus_id,memory.total,compute_mode,mig.mode.current',
      '--format=csv,noheader',
    ],
    { seconds: 20 },
  );
  const nvidia = smi.code === 0 ? smi.stdout.trim().split('\n') : [];
  const reasons: string[] = [];
  const flags = options.software ? ['--software'] : [];
  for (const manifest of manifests()) {
    if (manifest !== undefined) process.env['VK_ICD_FILENAMES'] = manifest;
    const finished = await runNode('device', flags, seconds / 3);
    if (finished.code === 0) {
      const seen = JSON.parse(finished.stdout) as DeviceSeen;
      const { version } = JSON.parse(
        readFileSync(path.join(app, 'package.json'), 'utf8'),
      ) as { version: string };
      const about = { nvidia, node: process.version, gradwire: version };
      return {
        result: { ...seen, ...about, ...(manifest === undefined ? {} : { manifest }) },
      };
    }
    const reason = failureOf(finished)!;
    reasons.push(manifest === undefined ? reason : `${path.basename(manifest)}: ${reason}`);
    if (manifest !== undefined) delete process.env['VK_ICD_FILENAMES'];
  }
  return { failure: [...reasons, ...nvidia, await diagnosis()].join('\n') };
}

async function testBits(file: string, seconds: number) {
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
    failed.length > 0 ? `${failed.length} tests failed: ${failed[0]!.name}` : undefined;
  const none = result.passed === 0 ? 'no test passed' : undefined;
  const failure = failureOf(finished) ?? wrong ?? none;
  return failure === undefined ? { result } : { result, failure };
}

/** Python with PyTorch, without the kit's libraries. */
async function timePeers(seconds: number) {
  const env = { ...process.env };
  delete env['LD_LIBRARY_PATH'];
  const asked = await runProgram('python3', ['-c', 'import torch; torch.zeros(1).cuda()'], {
    seconds: Math.min(60, seconds),
    env,
  });
  if (asked.code !== 0) {
    const reason = asked.stderr.trim().split('\n').at(-1) ?? '';
    return { skipped: `no PyTorch with CUDA: ${reason}` };
  }
  const script = ['torch_compress.py', '../../bench/peers/torch_compress.py']
    .map((name) => path.join(here, name))
    .find(existsSync)!;
  const sizes = options.quick ? ['1000000'] : ['1000000', '25000000', '66000000'];
  return printed<PeerTimes>(
    await runProgram('python3', [script, '--cuda', ...sizes], { seconds, env }),
  );
}

mkdirSync(out, { recursive: true });
const device = await step<DeviceSeen>('device', 45, findDevice);
if (device !== undefined) {
  for (const file of TEST_FILES) {
    await step<Bits>(`bits-${file}`, options.quick ? 200 : 60, (seconds) =>
      testBits(file, seconds),
    );
    // With --quick one file shows that bundled tests run: a CPU driver takes minutes for all.
    if (options.quick) break;
  }
  for (const n of options.quick ? ['100k'] : ['1M', '25M', '66M']) {
    await step<KernelTimes>(`kernels-${n}`, options.quick ? 120 : 25, async (seconds) =>
      printed(await runNode('gpu', ['--n', n, '--json'], seconds)),
    );
  }
}
await step<PeerTimes>('peers', 60, timePeers);
if (device !== undefined) {
  for (const run of kitRuns(options.quick)) {
    await step(`run-${run.name}`, options.quick ? 150 : 40, async (seconds) => {
      const { steps, failure } = await measureRun(app, run, seconds);
      return {
        ...(steps === undefined ? {} : { result: steps }),
        ...(failure === undefined ? {} : { failure }),
      };
    });
  }
}
if (device === undefined) {
  process.stderr.write(
    `gpu-kit: WebGPU finds no GPU here; ${path.join(out, 'device.json')} says what was tried\n`,
  );
  process.exit(3);
}
endAll();
process.exit(failures > 0 ? 1 : 0);
