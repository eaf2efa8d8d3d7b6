/**
 * `gradwire bench app`: what the app costs, measured with real processes on this machine
 * and printed as a table (or `--json`); with `--cluster` what machines reached by SSH cost, with `--long` ten minutes of a large
 * run, with `--timeline` a large trace (docs/decisions/098-traces.md). How to read the rest: docs/benchmarks.md.
 */
import { parseArgs } from 'node:util';
import { measureCharts } from './app/charts.ts';
import { measureCluster } from './app/cluster.ts';
import { measureDashboard } from './app/dashboard.ts';
import { measureFirstPaint } from './app/first-paint.ts';
import { measureHistory } from './app/history.ts';
import { measureIterations } from './app/iteration.ts';
import { measureLongRun } from './app/long-run.ts';
import { measureMain } from './app/main-memory.ts';
import { measureRunList } from './app/run-list.ts';
import { measureStart } from './app/start.ts';
import { measureTimeline } from './app/timeline.ts';
import { measureTimers } from './app/timers.ts';
import { printMeasurements, type Measurement } from './report.ts';
import './parent.ts';

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    cluster: { type: 'boolean', default: false },
    long: { type: 'boolean', default: false },
    timeline: { type: 'boolean', default: false },
    seconds: { type: 'string', default: '600' },
  },
});

printMeasurements(await measure(), values.json);

async function measure(): Promise<readonly Measurement[]> {
  if (values.long) return await measureLongRun(Number(values.seconds));
  if (values.timeline) return await measureTimeline();
  if (values.cluster) return [...(await measureCluster()), ...(await measureMain())];
  return [
    ...(await measureStart()),
    ...(await measureIterations()),
    ...(await measureTimers()),
    ...(await measureHistory()),
    ...(await measureFirstPaint()),
    ...(await measureDashboard()),
    ...(await measureRunList()),
    ...(await measureCharts()),
  ];
}
