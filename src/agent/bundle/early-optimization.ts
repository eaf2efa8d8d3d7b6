/**
 * Makes V8 optimise our code sooner. It waits for 400 calls of a function, or as many rounds of its
 * loops, and for 500 more after it has seen new types. A rank calls most functions once or twice
 * per iteration, so hundreds of iterations would run code that takes several times as long.
 *
 * Options of the command line would do the same, but V8 rejects code that was cached under other
 * options, Node's own included: a run would start later. So they are set once most code is loaded.
 *
 * Figures: docs/decisions/066-optimised-sooner.md.
 */
import { setFlagsFromString } from 'node:v8';

/** A V8 without one of them says so on stderr and continues. */
const OPTIONS = [
  '--invocation-count-for-maglev=100',
  '--minimum-invocations-after-ic-update=100',
];

/** Sets the options for the whole process, threads included. */
export function optimizeEarly(): void {
  for (const option of OPTIONS) setFlagsFromString(option);
}
