/**
 * A process that stores a run, for tests that kill it or let two of them race:
 *   node store-writer.ts DATABASE ITERATIONS BATCH
 * Prints the last sequence after every commit, or the code of the error that ended it.
 */
import { RunStore } from '../../../src/main/store/run-store.ts';
import { GradwireError } from '../../../src/shared/errors/errors.ts';
import { sampleSpec, wholeRun } from '../../unit/main/sample-records.ts';

const [file, iterations, size] = process.argv.slice(2);
const batch = Number(size);
const run = wholeRun(Number(iterations));
try {
  const store = RunStore.open(file!);
  // The losses of the sample rise.
  store.settings.set('alerts.loss-rising.on', false);
  try {
    store.create({ id: 'r', spec: sampleSpec(), switches: [], createdAt: 1 });
  } catch (error) {
    // The other one made it.
    if (!String(error).includes('UNIQUE')) throw error;
  }
  for (let from = 0; from < run.length; from += batch) {
    const entries = run.slice(from, from + batch);
    store.records.append('r', entries);
    process.stdout.write(`${entries.at(-1)!.sequence}\n`);
  }
  store.close();
} catch (error) {
  if (!(error instanceof GradwireError)) throw error;
  process.stdout.write(`${error.code}\n`);
}
