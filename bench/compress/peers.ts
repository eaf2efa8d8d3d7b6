/**
 * The same vector through PyTorch, one thread, by `bench/peers/torch_compress.py`: what
 * people use in place of these methods. Goals are ratios of times in the same run.
 */
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { temporaryDirectory } from '../../src/disk/temporary-directory.ts';
import { askPython, peerPython } from '../peers/python.ts';
import type { TorchFacts } from '../peers/torch-facts.ts';
import { RATIO } from './cases.ts';

const script = path.join(import.meta.dirname, '../peers/torch_compress.py');

/** Milliseconds, medians. */
export interface PeerTimes extends TorchFacts {
  /** A selection alone: ours adds the residual as well. */
  readonly topk: number;
  /** Time with the residual. */
  readonly feedback: number;
  readonly qsgd: number;
  readonly tuned: number;
  readonly means: number;
  /** The vector divided by the number of ranks in 16 bits, as PyTorch's hooks send it. */
  readonly bf16: number;
  readonly fp16: number;
}

export type PeerOperation = Exclude<keyof PeerTimes, keyof TorchFacts>;

/** Our case, the peer's operation, and the least ratio of their times, where one is set. */
export const COMPARISONS: readonly (readonly [string, PeerOperation, number?])[] = [
  ['topk', 'topk', 10],
  ['topk', 'feedback', 10],
  ['qsgd 4 bit', 'qsgd', 8],
  ['qsgd 4 bit', 'tuned'],
  ['bf16', 'bf16'],
  ['fp16', 'fp16'],
  ['a2sgd', 'means', 6],
  ['gaussiank', 'topk', 10],
  ['gaussiank', 'feedback', 10],
  ['dct', 'topk', 10],
  ['dct', 'feedback', 10],
];

export async function timePeers(values: Float32Array): Promise<PeerTimes> {
  const directory = temporaryDirectory('gradwire-bench-');
  try {
    const file = path.join(directory, 'x.f32');
    const { buffer, byteOffset, byteLength } = values;
    await writeFile(file, new Uint8Array(buffer, byteOffset, byteLength));
    return await askPython<PeerTimes>(peerPython, script, file, String(RATIO));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
