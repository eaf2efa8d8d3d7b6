/**
 * The same vector through PyTorch, one thread, by `bench/peers/torch_compress.py`: what
 * people use in place of these methods. Goals are ratios of times in the same run.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { RATIO } from './cases.ts';

const script = path.join(import.meta.dirname, '../peers/torch_compress.py');
const python = '/usr/bin/python3';

/** Milliseconds, medians. */
export interface PeerTimes {
  readonly torch: string;
  readonly topk: number;
  readonly qsgd: number;
  readonly tuned: number;
  readonly means: number;
}

export type PeerOperation = Exclude<keyof PeerTimes, 'torch'>;

/** Our case, the peer's operation, and the least ratio of their times, where one is set. */
export const COMPARISONS: readonly (readonly [string, PeerOperation, number?])[] = [
  ['topk', 'topk', 10],
  ['qsgd 4 bit', 'qsgd', 8],
  ['qsgd 4 bit', 'tuned'],
  ['a2sgd', 'means', 6],
  ['gaussiank', 'topk', 10],
  ['dct', 'topk', 10],
];

/** Why there is no peer, or undefined. */
export async function peerMissing(): Promise<string | undefined> {
  const { code, stderr } = await runPython(['-c', 'import torch']);
  if (code === 0) return undefined;
  const reason = stderr.trim().split('\n').at(-1) ?? '';
  return `${python} has no torch (${reason}): install Debian's python3-torch`;
}

export async function timePeers(values: Float32Array): Promise<PeerTimes> {
  const directory = await mkdtemp(path.join(tmpdir(), 'gradwire-bench-'));
  try {
    const file = path.join(directory, 'x.f32');
    const { buffer, byteOffset, byteLength } = values;
    await writeFile(file, new Uint8Array(buffer, byteOffset, byteLength));
    const { code, stdout, stderr } = await runPython([script, file, String(RATIO)]);
    if (code !== 0) throw new Error(`${script} failed: ${stderr.trim()}`);
    return JSON.parse(stdout) as PeerTimes;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function runPython(
  args: readonly string[],
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(python, args, {
    env: { ...process.env, OMP_NUM_THREADS: '1', MKL_NUM_THREADS: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return await new Promise((resolve) => {
    child
      .on('error', (error) => {
        resolve({ code: null, stdout, stderr: error.message });
      })
      .on('close', (code) => {
        resolve({ code, stdout, stderr });
      });
  });
}
