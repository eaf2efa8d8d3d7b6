/** Parameters that quantise a sparsifier's values, and the frame that applies them. */
import { z } from 'zod';
import type { Quantizer } from '../kernels/quantization.ts';
import { quantizedBytes } from '../work/quantized-entries.ts';
import { gatheredCodes, sparseSum } from './expected-messages.ts';
import type {
  Carriage,
  Compressor,
  CompressorContext,
  ExpectedMessage,
} from './method.ts';
import { QuantizedFeedback } from './quantized-feedback.ts';
import { SparseFeedback, type Selection } from './sparse-feedback.ts';

export const valueParameters = {
  quantize: z
    .strictObject({
      bits: z
        .int()
        .min(0)
        .max(8)
        .refine((bits) => bits !== 1, 'One bit leaves no levels: use 0, or 2 to 8')
        .default(0)
        .describe('Bits per sent value, rounded at random as in QSGD; 0: exact values'),
      bucket: z
        .int()
        .min(1)
        .max(2 ** 30)
        .default(512)
        .describe('Consecutive sent values that share a scale'),
    })
    .prefault({}),
};

export interface ValueParameters {
  readonly quantize: { readonly bits: number; readonly bucket: number };
}

export const bucketBesideBits = {
  parameter: 'quantize.bucket',
  beside: 'quantize.bits',
  when: ({ quantize }: ValueParameters): boolean => quantize.bits === 0,
  instead: 'quantize.bits=4',
};

/** ` in 4 bits`, or nothing. */
export const valuesLabel = ({ quantize }: ValueParameters): string =>
  quantize.bits === 0 ? '' : ` in ${quantize.bits} bits`;

/** Carriage of values: exact ones can be summed on their way, quantised ones only gathered. */
export function carriageOfValues({ quantize }: ValueParameters): Carriage {
  return quantize.bits === 0
    ? { payload: 'sparse', reducible: true }
    : { payload: 'quantized', reducible: false };
}

/** The message that carries `entries` entries of a vector of `length` elements. */
export function messageOfValues(
  parameters: ValueParameters,
  length: number,
  entries: number,
): ExpectedMessage {
  const quantizer = valueQuantizer(parameters);
  return quantizer === undefined
    ? sparseSum(length, entries)
    : gatheredCodes(length, quantizedBytes(entries, quantizer));
}

/** Error feedback around a selection, with exact or quantised values. */
export function feedbackOf<V>(
  method: string,
  context: CompressorContext<ValueParameters, V>,
  selection: Selection<V>,
): Compressor<V> {
  const quantizer = valueQuantizer(context.parameters);
  return quantizer === undefined
    ? new SparseFeedback(method, context, selection)
    : new QuantizedFeedback(method, context, selection, quantizer);
}

/** Returns the quantizer of values; undefined if they are exact. */
function valueQuantizer({ quantize }: ValueParameters): Quantizer | undefined {
  const { bits, bucket } = quantize;
  return bits === 0 ? undefined : { levels: 2 ** (bits - 1) - 1, runLength: bucket };
}
