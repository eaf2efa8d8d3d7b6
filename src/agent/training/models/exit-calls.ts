/**
 * Calls of `process.exit` by a model's file. They would end the process of a rank without a word, as if
 * Gradwire had failed; as errors of the file they say where they are. What else ends a process, such
 * as a signal or `process.abort`, still does.
 */
import { syncBuiltinESMExports } from 'node:module';

/** The files whose code may not end this thread's process, as traces name them. */
const refused = new Set<string>();

/** @param name the file, as its errors name it */
export function refuseExitCalls(name: string): void {
  const isFirst = refused.size === 0;
  refused.add(encodeURI(name));
  if (!isFirst) return;
  const exit = process.exit.bind(process);
  process.exit = (code?: number | string | null): never => {
    const refusal = exitError(code);
    if (stackOf(refusal).some((frame) => isRefused(frame))) throw refusal;
    return exit(code);
  };
  // For `import { exit } from 'node:process'`, too.
  syncBuiltinESMExports();
}

/** The error of a call, with its whole trace: the file's code may be far from its end. */
function exitError(code: number | string | null | undefined): Error {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = Infinity;
  const call = `process.exit(${code ?? ''})`;
  const error = new Error(
    `it calls ${call}, which would end the rank: throw an error instead`,
  );
  Error.stackTraceLimit = stackTraceLimit;
  return error;
}

const stackOf = ({ stack = '' }: Error): readonly string[] => stack.split('\n');

/** Whether a frame is in one of the files. A bundle's name may end as theirs, but begins otherwise. */
function isRefused(frame: string): boolean {
  const place = frame
    .replace(/:\d+:\d+\)?$/, '')
    .split(/ \(| /)
    .at(-1)!;
  return refused.has(place);
}
