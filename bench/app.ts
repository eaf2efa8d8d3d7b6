/**
 * `gradwire bench app`: what the app costs, measured with real processes on this machine
 * and printed as a table (or `--json`). How to read it: docs/benchmarks.md.
 */
import { parseArgs } from 'node:util';
import { measureDashboard } from './app/dashboard.ts';
import { measureIterations } from './app/iteration.ts';
import { measureStart } from './app/start.ts';
import { measureTimers } from './app/timers.ts';
import { printMeasurements } from './report.ts';
import './parent.ts';

const { values } = parseArgs({
  options: { json: { type: 'boolean', default: false } },
});

printMeasurements(
  [
    ...(await measureStart()),
    ...(await measureIterations()),
    ...(await measureTimers()),
    ...(await measureDashboard()),
  ],
  values.json,
);
