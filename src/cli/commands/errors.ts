/** `gradwire errors`: what a code of an error or a notice means, and what to do next. */
import type { Command } from 'commander';
import { codeGroups } from '../../shared/codes/error-code.ts';
import { inputError } from '../../shared/errors/errors.ts';
import { nearest } from '../../shared/words/nearest.ts';
import { textTable } from '../text/text-table.ts';
import { tableWidth, WIDE } from '../text/terminal.ts';

interface ListOptions {
  readonly json: boolean;
  readonly wide: boolean;
}

interface Listed {
  readonly code: string;
  readonly group: string;
  readonly means: string;
  readonly next: string;
}

export function addErrorsCommand(program: Command): void {
  program
    .command('errors')
    .description('list the codes of errors and notices, or explain one')
    .argument('[code]', 'the code to explain, such as HOST_KEY_CHANGED')
    .option('--json', 'one line of JSON per code', false)
    .option(...WIDE, false)
    .action((asked: string | undefined, { json, wide }: ListOptions) => {
      const all = codeGroups.flatMap(listed);
      const code = asked?.toUpperCase();
      const chosen = all.filter((entry) => code === undefined || entry.code === code);
      if (code !== undefined && chosen.length === 0) {
        throw unknownCode(
          code,
          all.map((entry) => entry.code),
        );
      }
      process.stdout.write(
        json ? chosen.map(asLine).join('') : texts(chosen, code, tableWidth(wide)),
      );
    });
}

const listed = ({ codes, title }: (typeof codeGroups)[number]): readonly Listed[] =>
  Object.entries(codes).map(([code, entry]) => ({ code, group: title, ...entry }));

const asLine = (entry: Listed): string => `${JSON.stringify(entry)}\n`;

function texts(
  chosen: readonly Listed[],
  code: string | undefined,
  width: number | undefined,
): string {
  if (code === undefined) {
    const rows = chosen.map((entry) => [entry.code, entry.means]);
    return `${textTable(rows, ['left', 'left'], width)}\n`;
  }
  return chosen
    .map((entry) => `${entry.code}: ${entry.means}\n${entry.next}\n`)
    .join('');
}

function unknownCode(code: string, codes: readonly string[]): Error {
  const meant = nearest(code, codes);
  return inputError('USAGE', `there is no code "${code}"`, {
    next:
      meant === undefined ? 'List them: gradwire errors.' : `Did you mean "${meant}"?`,
  });
}
