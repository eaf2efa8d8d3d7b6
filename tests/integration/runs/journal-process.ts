/**
 * A process that works on a journal while the system lets it write no more than a little
 * (`ulimit -f`, set by its parent). Prints what it finds as one line of JSON.
 *
 *     overflow FILE   append entries until a write fails, then a last one that fits
 *     restore FILE    take the journal over from a supervisor that is gone
 */
import { Journal } from '../../../src/agent/supervisor/journal/journal.ts';
import { RestoredRun } from '../../../src/agent/supervisor/journal/restored-run.ts';
import { GradwireError } from '../../../src/shared/errors/errors.ts';
import { parseExperimentSpec } from '../../../src/shared/spec/experiment-spec.ts';
import type { JournalEntry } from '../../../src/shared/records/journal-entry.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';

const [, , action, file] = process.argv;

const notice = (code: string): RunRecord => ({
  type: 'notice',
  at: 1,
  level: 'info',
  code,
  message: code.repeat(20),
});

function overflow(journal: Journal): string {
  journal.append([notice('first')]);
  try {
    journal.append(Array.from({ length: 100 }, (_, i) => notice(`lost${i}`)));
  } catch (error) {
    if (!(error instanceof GradwireError)) throw error;
    journal.append([notice('last')]);
    return error.code;
  }
  throw new Error('the journal was not full');
}

async function restore(journal: Journal): Promise<readonly JournalEntry[]> {
  const spec = parseExperimentSpec({ workload: { model: 'fnn3', dataset: 'digits' } });
  const run = new RestoredRun('r', spec, 1, journal);
  const entries: JournalEntry[] = [];
  for await (const batch of run.journal.readAfter(0)) entries.push(...batch);
  return entries;
}

const found =
  action === 'overflow'
    ? overflow(Journal.create(file!))
    : await restore(Journal.reopen(file!));
process.stdout.write(`${JSON.stringify(found)}\n`);
