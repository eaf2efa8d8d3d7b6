/**
 * The bad end of a command: one line on stderr and an exit code. 2 where the input was wrong,
 * 3 where a run goes on but cannot be followed, 1 for anything else. Never a stack trace:
 * what is not a coded error is reported as an internal one, and with GRADWIRE_DEBUG=1 its
 * stack too.
 */
import { CommanderError } from 'commander';
import { codeEntry } from '../../shared/codes/error-code.ts';
import {
  formatError,
  isErrorData,
  toErrorData,
  type ErrorData,
} from '../../shared/errors/errors.ts';
import { escapeControls } from '../../shared/words/printable.ts';

const EXIT_INPUT = 2;
const EXIT_FAILURE = 1;
const EXIT_UNFOLLOWED = 3;

/**
 * Prints the error; answers with the exit code.
 * @param help the command that explains the one which was used wrongly
 */
export function reportError(thrown: unknown, help = 'gradwire --help'): number {
  if (thrown instanceof CommanderError && thrown.exitCode === 0) return 0; // help
  const error = asErrorData(thrown, help);
  // An error of a bundle is no plain object: its message would not be copied.
  const { code, kind, message, place } = error;
  const next = error.next ?? codeEntry(code)?.next;
  const line = formatError({ code, kind, message, place, next }).replace(
    /\s*\n\s*/g,
    ' | ',
  );
  process.stderr.write(`gradwire: ${escapeControls(line)}\n`);
  if (process.env['GRADWIRE_DEBUG'] === '1' && thrown instanceof Error) {
    process.stderr.write(`${thrown.stack ?? ''}\n`);
  }
  return exitCodeOf(error);
}

function exitCodeOf(error: ErrorData): number {
  if (error.code === 'RUN_UNFOLLOWED') return EXIT_UNFOLLOWED;
  return error.kind === 'input' ? EXIT_INPUT : EXIT_FAILURE;
}

function asErrorData(thrown: unknown, help: string): ErrorData {
  if (thrown instanceof CommanderError) return usageError(thrown, help);
  // An error of a bundle that was loaded at run time is of that bundle's own class.
  if (
    thrown instanceof Error &&
    thrown.name === 'GradwireError' &&
    isErrorData(thrown)
  ) {
    return thrown;
  }
  return toErrorData(thrown);
}

function usageError(error: CommanderError, help: string): ErrorData {
  const next = `See: ${help}.`;
  if (error.code === 'commander.help') {
    return { code: 'USAGE', kind: 'input', message: 'a command is missing', next };
  }
  const message = error.message.replace(/^error: /, '');
  const [, said, suggestion] = /^(.*?)\s*\((Did you mean .*\?)\)$/s.exec(message) ?? [];
  return {
    code: 'USAGE',
    kind: 'input',
    message: said ?? message,
    next: suggestion ?? next,
  };
}
