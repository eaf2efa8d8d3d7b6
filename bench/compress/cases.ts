/**
 * The measured cases: the methods with parameters as the papers use them, and whatever else
 * the registry has with its defaults.
 */
import { methods } from '../../src/agent/methods/registry.ts';
import type { JsonObject } from '../../src/shared/checks/json.ts';

export interface BenchCase {
  /** Name of its row; the same in every run. */
  readonly name: string;
  readonly method: string;
  readonly parameters: JsonObject;
  /** A parameter whose value is the magnitude that this share of the elements reaches. */
  readonly magnitudeOf?: { readonly parameter: string; readonly ratio: number };
}

/** Share of the elements that the sparsifiers keep. */
export const RATIO = 0.001;

const sparse = (method: string, more: JsonObject = {}): BenchCase => ({
  name: method,
  method,
  parameters: { ratio: RATIO, ...more },
});

const chosen: readonly BenchCase[] = [
  { name: 'none', method: 'none', parameters: {} },
  sparse('topk'),
  { ...sparse('topk', { ratio: 0.01 }), name: 'topk 1 %' },
  { ...sparse('topk', { k: 4, bucket: 512 }), name: 'topk 4 of 512' },
  { ...sparse('topk', { quantize: { bits: 4 } }), name: 'topk, 4-bit values' },
  sparse('randomk'),
  {
    name: 'threshold',
    method: 'threshold',
    parameters: {},
    magnitudeOf: { parameter: 'threshold', ratio: RATIO },
  },
  sparse('gaussiank'),
  sparse('dct'),
  sparse('dgc'),
  sparse('scalecom', { selection: 'chunk' }),
  { name: 'powersgd r=2', method: 'powersgd', parameters: { rank: 2 } },
  { name: 'qsgd 2 bit', method: 'qsgd', parameters: { bits: 2, minElements: 0 } },
  { name: 'qsgd 4 bit', method: 'qsgd', parameters: { bits: 4, minElements: 0 } },
  { name: 'qsgd 8 bit', method: 'qsgd', parameters: { bits: 8, minElements: 0 } },
  {
    name: 'qsgd Elias',
    method: 'qsgd',
    parameters: { bits: 4, coding: 'elias', minElements: 0 },
  },
  { name: 'terngrad', method: 'terngrad', parameters: { minElements: 0 } },
  { name: 'onebit', method: 'onebit', parameters: { minElements: 0 } },
  { name: 'a2sgd', method: 'a2sgd', parameters: {} },
];

const others = [...methods.keys()].filter((id) =>
  chosen.every(({ method }) => method !== id),
);

export const CASES: readonly BenchCase[] = [
  ...chosen,
  ...others.map((id) => ({ name: id, method: id, parameters: {} })),
];
