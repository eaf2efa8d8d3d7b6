/**
 * A process that moves the records of an old database into blocks, for tests that kill it:
 *   node compacting.ts DATABASE
 * Prints a line after every step, and `done`.
 */
import { RunStore } from '../../../src/main/store/run-store.ts';

const store = RunStore.open(process.argv[2]!);
process.stdout.write('opened\n');
while (store.space.compact()) process.stdout.write('step\n');
store.close();
process.stdout.write('done\n');
