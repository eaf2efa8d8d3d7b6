/**
 * δ: the number of entries at which a stream of N elements turns dense. By bytes alone,
 * δ = N·isize/(4 + isize) for u32 indices and values of isize bytes: N/2 for f32 and 2N/3
 * for f64, where both forms are equally long. An exchange may set a smaller share of N, as
 * summing sparse streams takes longer than summing dense ones (`best-delta.ts`). A larger
 * one does not count, since a stream would be longer than its elements.
 *
 * Source: SparCML (Renggli et al., SC 2019), section 5.1.
 */
import { inputError } from '../../shared/errors/errors.ts';
import { deltaByBytes } from './best-delta.ts';
import { sparseBytes } from '../memory/entries.ts';
import { valueBytesOf, type ValueBytes, type ValueType } from '../memory/value-type.ts';

/** Facts of an exchange that decide about the form of its streams. */
export interface StreamTerms {
  /** Bytes of a value; default: those of an f32. */
  readonly valueBytes?: ValueBytes | undefined;
  /** δ/N, in (0, 1); default: the share where both forms are equally long. */
  readonly delta?: number | undefined;
}

/** Whether that many entries of a range of `length` reach δ. */
export const reachesDelta = (
  entries: number,
  length: number,
  { valueBytes = 4, delta }: StreamTerms,
): boolean =>
  length > 0 &&
  (sparseBytes(entries, valueBytes) >= valueBytes * length ||
    (delta !== undefined && entries >= delta * length));

/** @throws GradwireError `DELTA_INVALID`: δ/N is in (0, isize/(4 + isize)] */
export function assertDelta(delta: number, values: ValueType): void {
  const most = deltaByBytes(valueBytesOf(values));
  if (delta > 0 && delta <= most) return;
  const bound = most === 0.5 ? '0.5' : '2/3';
  throw inputError(
    'DELTA_INVALID',
    `delta is ${delta}; for ${values} values it must be above 0 and at most ${bound}`,
    {
      next: `Use a number up to ${bound}, at which both forms take as many bytes, or auto.`,
    },
  );
}
