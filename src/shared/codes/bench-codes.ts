/** Codes of `gradwire bench`, with what each means and the next step. */
import { codeGroup } from './code-group.ts';

export const benchCodes = codeGroup({
  title: 'Benchmarks',
  about: '`gradwire bench` and the programs in `bench/`.',
  codes: {
    BENCH_LINKS_UNAVAILABLE: {
      means: 'Links of that speed cannot be set up here.',
      next: 'Use --links loopback, or run it as root on Linux.',
    },
    BENCH_OPTION_INVALID: {
      means: 'An option of the benchmark has a value that it cannot use.',
      next: 'Give a value that the message allows.',
    },
    BENCH_PEER_FAILED: {
      means: 'A program to compare with could not be built, or did not end well.',
      next: 'Install what the message names, or leave out --peers.',
    },
    GPU_CLOCK_MISSING: {
      means: 'The GPU has no clock that programs can read.',
      next: 'Its kernels cannot be timed.',
    },
    RESULT_WRONG: {
      means: 'A collective gave a wrong sum. It is a bug.',
      next: 'Run the tests of the collectives, and report it.',
    },
  },
});
