/** Parts of real messages, from which those of many doors are made. */
import type { Refusal } from '../../../src/shared/protocol/checked-message.ts';

/** Doors by name: how each checks a message, and messages as they are. */
export type Doors = Readonly<
  Record<string, readonly [(raw: unknown) => unknown, readonly unknown[]]>
>;

export const secret = new Uint8Array(32);
export const address = {
  host: '::1',
  port: 9,
  hosts: ['a'],
  pulse: 10,
  local: '\0x',
  node: 'b',
};
export const plan = { method: 'topk', parameters: { ratio: 0.1 }, collective: 'ring' };
export const network = {
  alpha: 1e-6,
  beta: 1e-9,
  gamma: 1e-10,
  rates: [{ bytes: 8, beta: 0 }],
  between: { alpha: 1, beta: 2, perRank: true },
};
export const error = { code: 'X', kind: 'failure', message: 'x', rank: 1 };

export const timing = { alpha: 1e-6, there: 1e-9, back: 1e-9 };
export const kernels = {
  add: 1e-9,
  merge: 1e-9,
  scatter: 1e-9,
  select: 1e-9,
  quantize: 1e-9,
  dequantize: 1e-9,
};
export const refusal: Refusal = { code: 'REQUEST_INVALID', what: 'x' };
