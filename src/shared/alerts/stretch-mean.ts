/**
 * Means of a quantity over consecutive stretches of iterations, from records of all ranks. A record
 * of a stretch that has been left behind is ignored: ranks of one iteration report at nearly the
 * same time.
 */
import { z } from 'zod';

export const stretchSchema = z.object({
  /** Number of the stretch: iterations from `place` · length on. */
  place: z.number(),
  sum: z.number(),
  count: z.number(),
});
export type Stretch = z.infer<typeof stretchSchema>;

export const emptyStretch = (): Stretch => ({ place: 0, sum: 0, count: 0 });

/**
 * Adds a value.
 * @returns the mean of the stretch that this one follows, if the value begins a new one
 */
export function addToStretch(
  stretch: Stretch,
  iteration: number,
  length: number,
  value: number,
): number | undefined {
  const place = Math.floor(iteration / length);
  if (place < stretch.place) return undefined;
  let mean: number | undefined;
  if (place > stretch.place) {
    mean = stretch.count === 0 ? undefined : stretch.sum / stretch.count;
    stretch.place = place;
    stretch.sum = 0;
    stretch.count = 0;
  }
  stretch.sum += value;
  stretch.count++;
  return mean;
}
