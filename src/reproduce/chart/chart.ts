/**
 * A chart's contents as data: `chart-svg.ts` draws it, and so can readers of the JSON.
 */
import { z } from 'zod';

const axisSchema = z.strictObject({
  /** The quantity, with its unit in parentheses: `time (ms)`. */
  label: z.string(),
  scale: z.enum(['linear', 'log']),
  /** Positions of the ticks; default: round values. */
  ticks: z.array(z.number()).readonly().optional(),
  /** Labels of a bar chart's groups, in place of values; x is the index. */
  categories: z.array(z.string()).readonly().optional(),
});
export type Axis = z.infer<typeof axisSchema>;

const chartPointSchema = z.strictObject({
  x: z.number(),
  /** The mean over the seeds. */
  y: z.number(),
  /** The smallest and the largest value of any seed. */
  low: z.number(),
  high: z.number(),
});
export type ChartPoint = z.infer<typeof chartPointSchema>;

const seriesSchema = z.strictObject({
  name: z.string(),
  points: z.array(chartPointSchema).readonly(),
});
export type Series = z.infer<typeof seriesSchema>;

export const chartSchema = z.strictObject({
  kind: z.enum(['lines', 'bars']),
  /**
   * One sentence that describes the chart to readers who cannot see it, and explains its
   * marks.
   */
  caption: z.string(),
  x: axisSchema,
  y: axisSchema,
  /** The series, at most six: one for each colour. */
  series: z.array(seriesSchema).min(1).max(6).readonly(),
  /** Horizontal lines. */
  references: z
    .array(z.strictObject({ y: z.number(), label: z.string() }))
    .readonly()
    .optional(),
});
export type Chart = z.infer<typeof chartSchema>;

/** Mean and extremes of values at x, at least one. */
export function pointOf(x: number, values: readonly number[]): ChartPoint {
  const sum = values.reduce((total, value) => total + value, 0);
  return {
    x,
    y: sum / values.length,
    low: Math.min(...values),
    high: Math.max(...values),
  };
}

/**
 * Mean and extremes of curves at the x values that all of them have. Runs that diverged have empty ones,
 * which are left out.
 * @param factor multiplies the values: 100 for percent
 */
export function meanCurve(
  all: readonly (readonly { readonly x: number; readonly y: number }[])[],
  factor = 1,
): readonly ChartPoint[] {
  const curves = all.filter((curve) => curve.length > 0);
  return (curves[0] ?? []).flatMap(({ x }) => {
    const values = curves.flatMap((curve) => curve.filter((point) => point.x === x));
    if (values.length < curves.length) return [];
    return [
      pointOf(
        x,
        values.map(({ y }) => factor * y),
      ),
    ];
  });
}
