/**
 * An app that launches a run and is killed: node app-process.ts HOME ITERATIONS
 * Prints the run's id once it has stored some iterations.
 */
import { createAppCore } from '../../../src/main/app/app-core.ts';
import { resolveHome } from '../../../src/main/home/home.ts';

const [directory, iterations] = process.argv.slice(2);
const core = await createAppCore({
  home: resolveHome({ GRADWIRE_HOME: directory }),
  host: 'browser',
});
let told = false;
core.onEvent((event, ...args) => {
  const [summary] = args;
  if (event !== 'runChanged' || typeof summary !== 'object' || told) return;
  if (!('iterations' in summary) || summary.iterations < 3) return;
  told = true;
  process.stdout.write(`${summary.id}\n`);
});
await core.api.launch({
  name: 'outlives its app',
  workload: { model: 'fnn3', dataset: 'digits', batchPerRank: 8 },
  world: { ranks: 2 },
  iterations: Number(iterations),
  // It is still under way when a busy machine gets to kill the app.
  network: { bandwidth: '10 Gbit/s', latency: '5 ms' },
});
