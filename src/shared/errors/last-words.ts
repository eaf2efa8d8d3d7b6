/** Last words of a process of Node's on stderr. */

/** The line of an error that nothing caught; Node prints its place before and its version after. */
const ERROR_LINE = /^\w*Error(?: \[\w+\])?: |^FATAL ERROR: /;

/** Finds the error that ended a process; undefined if it printed none. */
export const errorLine = (stderr: string): string | undefined =>
  stderr.split('\n').findLast((line) => ERROR_LINE.test(line));
