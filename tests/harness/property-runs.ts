/** fast-check's runs of a property, unless it says otherwise itself. */
import { configureGlobal } from 'fast-check';
import { runs, seed, soaking } from './effort.ts';

configureGlobal({
  numRuns: runs(100),
  ...(soaking ? { seed } : {}),
});
