/**
 * Ratios of their own for layers, by patterns of tensor names: a bias that is sent whole,
 * an embedding that is sent at a tenth of the others' ratio. Pure functions of the text
 * and the tensors, so that all ranks agree.
 *
 * Source: ScaleCom (Chen et al., NeurIPS 2020), section 4: rates by layer.
 */
import { z } from 'zod';
import type { TensorSlice } from '../method.ts';

export const layerParameters = {
  layers: z
    .string()
    .max(10_000)
    .default('')
    .refine((text) => parseRates(text) !== undefined, {
      message: 'name patterns with a ratio in (0, 1] each, as in "*.bias=1 conv*=0.05"',
    })
    .describe(
      'Ratios of layers of their own, by name, as in "*.bias=1 conv*=0.05"; the first that fits',
    ),
};

export interface LayerRate {
  readonly pattern: RegExp;
  readonly ratio: number;
}

/** Undefined where the text is none: pairs of pattern=ratio, apart by spaces or commas. */
export function parseRates(text: string): readonly LayerRate[] | undefined {
  const rates: LayerRate[] = [];
  for (const pair of text.split(/[\s,]+/).filter((part) => part !== '')) {
    const [, name, share] = /^([^=]+)=([^=]+)$/.exec(pair) ?? [];
    const ratio = Number(share);
    if (name === undefined || !(ratio > 0 && ratio <= 1)) return undefined;
    const pattern = name
      .split('*')
      .map((literal) => literal.replace(/[\\^$.|?+()[\]{}]/g, '\\$&'))
      .join('.*');
    rates.push({ pattern: new RegExp(`^${pattern}$`), ratio });
  }
  return rates;
}

/** The ratio of the first pattern that fits all of the name, if one does. */
export function rateOf(rates: readonly LayerRate[], name: string): number | undefined {
  return rates.find(({ pattern }) => pattern.test(name))?.ratio;
}

/** A run of the bucket that is selected from as a whole. */
export interface Segment {
  readonly start: number;
  readonly length: number;
  /** Its own; absent: the method's. */
  readonly ratio?: number | undefined;
}

/** Each layer with a ratio of its own is a segment, and each run of others between. */
export function segmentsOf(
  tensors: readonly TensorSlice[],
  rates: readonly LayerRate[],
): readonly Segment[] {
  const segments: Segment[] = [];
  for (const { name, start, length } of tensors) {
    const ratio = rateOf(rates, name);
    const last = segments.at(-1);
    if (ratio === undefined && last !== undefined && last.ratio === undefined) {
      segments[segments.length - 1] = { ...last, length: last.length + length };
    } else {
      segments.push({ start, length, ratio });
    }
  }
  return segments;
}
