/** `gradwire reproduce judge DIR`: the runs of results, judged by the rules that figures have now. */
import type { Command } from 'commander';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { inputError } from '../../shared/errors/errors.ts';
import { readResults } from '../../main/figures/read-results.ts';
import { figures } from '../../reproduce/figures/registry.ts';
import { judgedAgain } from '../../reproduce/judge-again.ts';
import type { Result } from '../../reproduce/result.ts';
import { writeResult } from '../files/result-files.ts';
import { noResults } from './reproduce-table.ts';

/** `runs missing`: the figure has other settings, cases or seeds by now, or is gone. */
type Outcome = 'as before' | 'judged again' | 'runs missing';

export function addReproduceJudgeCommand(reproduce: Command): void {
  reproduce
    .command('judge')
    .description(
      'judge the runs of a directory’s results by the rules of this version, and write their pages again',
    )
    .argument('[directory]', 'directory with the results', 'reproduced')
    .option('--json', 'one line of JSON for each result', false)
    .action(async (directory: string, _, command: Command) => {
      // `--json` is an option of the command above as well.
      const { json } = command.optsWithGlobals<{ readonly json: boolean }>();
      const ids = figures.map(({ id }) => id);
      const results = await readResults(directory, ids);
      if (results.length === 0) throw noResults(directory);
      for (const before of results) {
        const now = judged(before, directory);
        if (now !== undefined) await writeResult(directory, now);
        const outcome = outcomeOf(before, now);
        process.stdout.write(
          json ? line(before, now, outcome) : text(before, now, outcome),
        );
      }
    });
}

/** @throws GradwireError `RESULT_INVALID`: its runs lack what the figure judges */
function judged(before: Result, directory: string): Result | undefined {
  try {
    return judgedAgain(before, figures);
  } catch (error) {
    const { message } = error as Error;
    throw inputError(
      'RESULT_INVALID',
      `its runs do not have what ${before.figure} judges: ${message.replace(/^internal: /, '')}`,
      {
        place: path.join(directory, `${before.figure}.json`),
        next: 'Reproduce the figure again.',
      },
    );
  }
}

function outcomeOf(before: Result, now: Result | undefined): Outcome {
  if (now === undefined) return 'runs missing';
  return isDeepStrictEqual(before, now) ? 'as before' : 'judged again';
}

const line = (before: Result, now: Result | undefined, outcome: Outcome): string =>
  `${JSON.stringify({ type: 'judged', figure: before.figure, outcome, before: before.verdict, verdict: now?.verdict })}\n`;

function text(before: Result, now: Result | undefined, outcome: Outcome): string {
  const { figure, verdict } = before;
  if (now === undefined) {
    const isKnown = figures.some(({ id }) => id === (before.full?.of ?? figure));
    const why = isKnown
      ? 'by earlier settings; reproduce it again to judge it by those of this version'
      : 'as before: this version has no such figure';
    return `${figure}: ${verdict}, ${why}\n`;
  }
  const said = now.verdict === verdict ? verdict : `${verdict} → ${now.verdict}`;
  return `${figure}: ${said}${outcome === 'as before' ? ', as before' : ''}\n`;
}
