/** `gradwire sweep --plan`: what the points of a sweep would take, each and all together. */
import { loadNetworkProfile } from '../../main/home/network-profile-file.ts';
import { ComputeTimes } from '../../main/plan/compute-times.ts';
import { measureComputeTime } from '../../main/plan/compute-time.ts';
import { Forecaster } from '../../main/plan/forecaster.ts';
import { knownNetwork } from '../../main/plan/known-network.ts';
import { predictPoint } from '../../main/plan/predict-run.ts';
import { formatError } from '../../shared/errors/errors.ts';
import {
  groundsText,
  sweepForecast,
  sweepForecastText,
  type PointForecast,
} from '../../shared/forecast/run-forecast.ts';
import type { ExpandedSweep } from '../../shared/sweep/sweep-points.ts';
import type { Workspace } from '../session/workspace.ts';
import { forecastTable } from '../text/sweep-tables.ts';
import { sizeText } from '../text/sweep-size.ts';
import { tableWidth } from '../text/terminal.ts';

/** The prediction of each point, in their order. */
export async function predictSweep(
  workspace: Workspace,
  { points }: Pick<ExpandedSweep, 'points'>,
): Promise<readonly PointForecast[]> {
  const { coordinator, home, store } = workspace;
  using forecaster = new Forecaster(home);
  const computeTimes = new ComputeTimes((spec) => measureComputeTime(spec, workspace));
  const own = await loadNetworkProfile(home.networkProfile);
  const forecasts: PointForecast[] = [];
  for (const point of points) {
    forecasts.push(
      await predictPoint(point, {
        forecaster,
        measured: async (spec) => knownNetwork(spec, { coordinator, home, own, store }),
        computeTime: (spec) => computeTimes.of(spec),
      }),
    );
  }
  return forecasts;
}

/** A table and the sums, or a line of JSON for each point and one for all. */
export function sweepPlanText(
  sweep: ExpandedSweep,
  forecasts: readonly PointForecast[],
  { json, wide }: { readonly json: boolean; readonly wide: boolean },
): string {
  const { keys, name, points, seeds } = sweep;
  const all = sweepForecast(forecasts, seeds.length);
  if (json) {
    const lines = [
      ...forecasts.map(({ error, forecast, point }) => {
        const { label, values } = points[point - 1]!;
        return { type: 'point', point, label, values, forecast, error };
      }),
      { type: 'sweep', name, seeds, ...all },
    ];
    return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  }
  const reasons = all.unpredicted.map(
    ({ error, points: numbers }) =>
      `${numbers.length === 1 ? 'Point' : 'Points'} ${numbers.join(', ')} not predicted: ` +
      `${formatError(error)}\n`,
  );
  const grounds = groundsText(forecasts.flatMap(({ forecast }) => forecast ?? []));
  return (
    `${sizeText(sweep)}\n${forecastTable(keys, points, forecasts, tableWidth(wide))}\n` +
    `${sweepForecastText(all)}\n${reasons.join('')}${grounds === '' ? '' : `${grounds}\n`}`
  );
}
