/** Codes, with what each means and the next step: sweeps. */
import { codeGroup } from './code-group.ts';

export const sweepsCodes = codeGroup({
  title: 'Sweeps',
  about: 'One spec with several values, as a queue of runs.',
  codes: {
    SWEEP_AMBIGUOUS: {
      means: 'Several sweeps begin with these characters.',
      next: 'Give more of its name or id: gradwire sweeps list.',
    },
    SWEEP_CHANGED: {
      means:
        'Another process drives the sweep, or the run is not in its queue any more.',
      next: 'See how it stands: gradwire sweeps show SWEEP.',
    },
    SWEEP_HALTED: {
      means: 'Several runs in a row did not begin, so the sweep stopped by itself.',
      next: 'Remove the cause in the message, then: gradwire sweeps resume SWEEP --retry.',
    },
    SWEEP_INVALID: {
      means: 'A value of the sweep is wrong, or a key cannot be varied.',
      next: 'Correct the value in the message; docs/sweeps.md shows examples.',
    },
    SWEEP_RUNS_FAILED: {
      means: 'The sweep has come to its end, and some of its runs failed.',
      next: 'See why: gradwire sweeps show SWEEP. Try them again with gradwire sweeps resume SWEEP --retry.',
    },
    SWEEP_RUN_UNKNOWN: {
      means: 'The sweep has no run with this number, or it is not in a state for that.',
      next: 'List its runs: gradwire sweeps show SWEEP.',
    },
    SWEEP_TOO_LARGE: {
      means: 'The sweep has more runs than a sweep may have.',
      next: 'Vary fewer values, or give the points one by one under list.',
    },
    SWEEP_UNKNOWN: {
      means: 'There is no sweep with this name or id.',
      next: 'List the sweeps: gradwire sweeps list.',
    },
    SWEEP_UNKNOWN_KEY: {
      means: 'The sweep has a key that does not exist.',
      next: 'Use the suggested key.',
    },
  },
});
