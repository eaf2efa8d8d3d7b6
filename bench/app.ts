/**
 * `gradwire bench app`: what the app costs, measured with real processes on this machine
 * and printed as a table (or `--json`); with `--cluster` what machines reached by SSH cost. How to read it: docs/benchmarks.md.
 */
import { parseArgs } from 'node:util';
import { measureCharts } from './app/charts.ts';
import { measureCluster } from './app/cluster.ts';
import { measureDashboard } from './app/dashboard.ts';
import { measureFirstPaint } from './app/first-paint.ts';
import { measureHistory } from './app/history.ts';
import { measureIterations } from './app/iteration.ts';
import { measureMain } from './app/main-memory.ts';
import { measureRunList } from './app/run-list.ts';
import { measureStart } from './app/start.ts';
import { measureTimers } from './app/timers.ts';
import { printMeasurements } from './report.ts';
import './parent.ts';

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    cluster: { type: 'boolean', default: false },
  },
});

printMeasurements(
  values.cluster
    ? [...(await measureCluster()), ...(await measureMain())]
    : [
        ...(await measureStart()),
        ...(await measureIterations()),
        ...(await measureTimers()),
        ...(await measureHistory()),
        ...(await measureFirstPaint()),
        ...(await measureDashboard()),
        ...(await measureRunList()),
        ...(await measureCharts()),
      ],
  values.json,
);
