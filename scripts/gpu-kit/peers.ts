/** PyTorch on the GPU that Gradwire took: the machine's own Python, whichever has it. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { cudaSees, type NvidiaGpu } from './nvidia.ts';
import { failureOf, runProgram } from './program.ts';
import type { PeerTimes, Outcome } from './results.ts';

const PYTHONS = [
  ...['python3', 'python', '/opt/conda/bin/python3', '/opt/venv/bin/python3'],
  ...['/usr/local/bin/python3', '/usr/bin/python3'],
];
/** Exit code of the script where this Python has no PyTorch, or that no GPU. */
const NONE = 3;

export interface PeersQuestion {
  readonly env: NodeJS.ProcessEnv;
  readonly gpus: readonly NvidiaGpu[];
  readonly bus: string | undefined;
  readonly sizes: readonly number[];
  readonly seconds: number;
}

export async function timePeers(question: PeersQuestion): Promise<Outcome<PeerTimes>> {
  const { bus, gpus, seconds, sizes } = question;
  const script = ['torch_compress.py', '../../bench/peers/torch_compress.py']
    .map((name) => path.join(import.meta.dirname, name))
    .find(existsSync)!;
  const env = { ...question.env, ...cudaSees(gpus, bus) };
  const until = performance.now() + 1000 * seconds;
  const reasons: string[] = [];
  for (const python of PYTHONS) {
    if (path.isAbsolute(python) && !existsSync(python)) continue;
    const left = (until - performance.now()) / 1000;
    if (left < 1) break;
    const finished = await runProgram(
      python,
      [script, '--cuda', ...(bus === undefined ? [] : ['--bus', bus]), ...sizes.map(String)],
      { seconds: left, env },
    );
    const failure = failureOf(finished);
    // Each line is the whole so far: a run that was cut has measured some sizes.
    const line = finished.stdout.trim().split('\n').at(-1) ?? '';
    const result = line.endsWith('}') ? (JSON.parse(line) as PeerTimes) : undefined;
    if (result !== undefined) return { result, ...(failure && { failure }) };
    if (finished.cut) return { failure: failure! };
    const last = finished.stderr.trim().split('\n').at(-1) ?? '';
    if (finished.code !== NONE && finished.code !== null) return { failure: failure! };
    reasons.push(`${python}: ${last}`);
  }
  return { skipped: `no PyTorch with CUDA (${reasons.join('; ')})` };
}
