/**
 * The average over ranks of dense or sparse payloads, from whatever form the collective
 * left their sum in. One rounding for the division by P, after the sum, so that the form
 * does not change the bits.
 */
import type { Vector } from '../memory/arena.ts';
import type { Kernels } from '../kernels/kernels.ts';
import type { Combined, Payload } from '../memory/payload.ts';
import type { ExchangeStatistics } from './method.ts';

/**
 * out ← combined / world. `out` may be the memory of a dense `combined` itself, but then
 * all of it.
 */
export function writeAverage(
  kernels: Kernels,
  combined: Combined,
  out: Vector,
  world: number,
): ExchangeStatistics {
  switch (combined.form) {
    case 'dense': {
      const sum = { offset: combined.data.offset, length: out.length };
      if (sum.offset !== out.offset) kernels.copy(out, sum);
      if (world > 1) kernels.scale(out, 1 / world);
      return {};
    }
    case 'sparse': {
      const stream = { offset: combined.data.offset, count: combined.count };
      kernels.fill(out, 0);
      kernels.scatterAdd(out, stream, 1 / world);
      return { nnzReduced: combined.count };
    }
    case 'gathered': {
      kernels.fill(out, 0);
      for (const payload of combined.payloads) addPayload(kernels, payload, out);
      if (world > 1) kernels.scale(out, 1 / world);
      return {};
    }
    default:
      return combined satisfies never;
  }
}

function addPayload(kernels: Kernels, payload: Payload, out: Vector): void {
  // A dense payload may be the gradient's own memory, which is `out`: it is never
  // gathered, as every collective for dense payloads sums them.
  if (payload.kind !== 'sparse') {
    throw new Error(`internal: a gathered ${payload.kind} payload has no sum here`);
  }
  const { data, count } = payload;
  kernels.scatterAdd(out, { offset: data.offset, count }, 1);
}
