/**
 * `gradwire bench history`: what the page, a comparison and the export of a large stored run cost. Makes the
 * run first, through the store, or uses the one that is there already:
 *
 *   node bench/history.ts --iterations 1000000 --ranks 8 --database /tmp/long.db
 */
import { cpSync, existsSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { reportError } from '../src/cli/text/report-error.ts';
import { openHome, resolveHome } from '../src/main/home/home.ts';
import { RunStore } from '../src/main/store/run-store.ts';
import { inputError } from '../src/shared/errors/errors.ts';
import { launchChromium } from '../tests/harness/browser.ts';
import { GradwireHome } from '../tests/harness/gradwire.ts';
import { openServer } from '../tests/harness/server.ts';
import { measureComparison } from './history/comparison.ts';
import { measureExport } from './history/export.ts';
import { generateRun } from './history/generated-run.ts';
import { measurePage } from './history/run-page.ts';
import { printMeasurements, type Measurement } from './report.ts';
import './parent.ts';

const { values } = parseArgs({
  options: {
    iterations: { type: 'string', default: '100000' },
    ranks: { type: 'string', default: '8' },
    database: { type: 'string' },
    generate: { type: 'boolean', default: false },
    seconds: { type: 'string', default: '40' },
    json: { type: 'boolean', default: false },
  },
});
const size = { iterations: Number(values.iterations), ranks: Number(values.ranks) };
const name = `${size.iterations} iterations of ${size.ranks} ranks`;
const RUN = 'large';

try {
  await main();
} catch (error) {
  process.exitCode = reportError(error);
}

async function main(): Promise<void> {
  const kept = values.database;
  if (kept !== undefined) requirePlace(kept);
  await using home = new GradwireHome();
  const { database } = await openHome(resolveHome({ GRADWIRE_HOME: home.directory }));
  const measured: Measurement[] = [];
  const file = kept !== undefined && existsSync(kept) ? undefined : (kept ?? database);
  if (file !== undefined) {
    const store = RunStore.open(file);
    const { microsecondsPerRecord, records } = generateRun(store, RUN, size);
    while (store.space.compact()) continue;
    measured.push(
      {
        name: `${name}: to store a record`,
        value: microsecondsPerRecord,
        unit: 'µs',
        note: `processor time of main, ${records} records in batches of 500, levels included`,
      },
      {
        name: `${name}: on the disk`,
        value: store.space.bytes / records,
        unit: 'B',
        note: 'a record, levels and pages included',
      },
    );
    store.close();
  }
  if (!values.generate) {
    if (kept !== undefined) cpSync(kept, database);
    measured.push(...measureComparison(database, RUN, name));
    await using server = await openServer(home);
    const browser = await launchChromium();
    try {
      measured.push(...(await measurePage(browser, server.url, RUN, name)));
    } finally {
      await browser.close();
    }
    for (const format of ['csv', 'json'] as const) {
      const seconds = Number(values.seconds);
      measured.push(...(await measureExport(server, RUN, name, { format, seconds })));
    }
  }
  const load = os.loadavg()[0]!.toFixed(1);
  printMeasurements(
    measured.map((each) => ({ ...each, note: `${each.note}; load ${load}` })),
    values.json,
  );
}

/** @throws GradwireError `BENCH_OPTION_INVALID`: a file cannot be there */
function requirePlace(file: string): void {
  const isFolder = existsSync(file) && statSync(file).isDirectory();
  if (!isFolder && existsSync(path.dirname(file))) return;
  const fault = isFolder ? 'it is a directory' : 'its directory does not exist';
  throw inputError('BENCH_OPTION_INVALID', `--database ${file}: ${fault}`, {
    next: 'Give the path of a file in a directory that exists.',
  });
}
