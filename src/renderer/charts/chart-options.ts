/** Options of all charts: no animation, no parsing, fixed ranges, quiet axes. */
import type { Chart, ChartOptions } from 'chart.js';
import { formatBytes, shorten } from '../../shared/words/units.ts';
import type { AxisRange } from './axis-range.ts';
import { byteTicks, type HorizontalAxis } from './axis-ticks.ts';
import type { Palette } from './palette.ts';

/** Room for an axis's labels in pixels: the same everywhere, so that charts align. */
const AXIS_WIDTH = 56;

/** The part of an axis that its ticks are made from. */
interface BuiltAxis {
  readonly min: number;
  readonly max: number;
  ticks: { value: number }[];
}

export function baseOptions(
  formatY: (value: number) => string,
  yType: 'linear' | 'logarithmic' = 'linear',
  x?: HorizontalAxis,
): ChartOptions<'line'> {
  return {
    animation: false,
    parsing: false,
    normalized: true,
    responsive: true,
    maintainAspectRatio: false,
    resizeDelay: 50,
    // The pointer is followed without Chart.js, which would look for elements under it.
    events: [],
    scales: {
      x: {
        type: 'linear',
        // A bar chart would widen the range by half a bar on each side.
        offset: false,
        grid: { display: false, offset: false },
        border: { display: true },
        ticks: {
          maxRotation: 0,
          maxTicksLimit: 9,
          includeBounds: false,
          ...(x === undefined
            ? { precision: 0 }
            : { callback: (value: number | string) => x.format(Number(value)) }),
        },
        afterBuildTicks: (axis: BuiltAxis) => {
          const places = x?.ticks?.(axis.min, axis.max);
          if (places !== undefined) axis.ticks = places.map((value) => ({ value }));
        },
      },
      y: {
        type: yType as 'linear',
        border: { display: false },
        ticks: {
          maxTicksLimit: 6,
          callback: (value: number | string) => {
            const tick = Number(value);
            // A log scale labels its powers of ten and nothing between.
            if (yType === 'logarithmic' && !isPowerOfTen(tick)) return undefined;
            return shorten(formatY(tick));
          },
        },
        afterBuildTicks: (axis: BuiltAxis) => {
          if (formatY !== formatBytes || yType === 'logarithmic') return;
          const places = byteTicks(axis);
          if (places !== undefined) axis.ticks = places.map((value) => ({ value }));
        },
        afterFit: (axis: { width: number }) => {
          axis.width = AXIS_WIDTH;
        },
      },
    },
  } as ChartOptions<'bar'> & ChartOptions<'line'>;
}

function isPowerOfTen(value: number): boolean {
  const power = Math.log10(value);
  return Math.abs(power - Math.round(power)) < 1e-6;
}

interface MutableAxis {
  min: number;
  max: number;
  stacked?: boolean;
  ticks: { color: string; font: { family: string; size: number } };
  grid: { color: string };
  border: { color: string };
}

/** Sets ranges and the theme's colours; the chart's next update applies them. */
export function themeAxes(
  chart: Chart,
  palette: Palette,
  ranges: { readonly x: AxisRange; readonly y: AxisRange },
): void {
  const scales = chart.options.scales as unknown as Record<'x' | 'y', MutableAxis>;
  for (const name of ['x', 'y'] as const) {
    const axis = scales[name];
    axis.min = ranges[name].min;
    axis.max = ranges[name].max;
    axis.ticks.color = palette.soft;
    axis.ticks.font = { family: palette.font, size: 11 };
    axis.grid.color = palette.grid;
    axis.border.color = palette.grid;
  }
}
