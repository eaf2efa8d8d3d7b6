/** Codes, with what each means and the next step: the command line and files. */
import { codeGroup } from './code-group.ts';

export const commandCodes = codeGroup({
  title: 'The command line and files',
  about: '`gradwire`, its options, and the files that it reads and writes.',
  codes: {
    ABORTED: {
      means:
        'Something that was under way was cancelled, by you or because its cause has ended.',
      next: 'If you did not cancel it, read the error that came before.',
    },
    BASELINE_NOT_COMPARED: {
      means:
        'The run that others are to be compared with is not among those that are compared.',
      next: 'Give one of the compared runs with --baseline, or leave it out.',
    },
    BENCH_MISSING: {
      means: "The benchmark's source is not part of this installation.",
      next: 'Run benchmarks in a checkout of the sources.',
    },
    COMPUTE_NOT_MEASURED: {
      means: 'The short run that measures the time of one iteration did not end well.',
      next: 'Give the time yourself: --compute MS.',
    },
    EMULATE_INVALID: {
      means: 'A value of --emulate is not a bandwidth or latency that can be emulated.',
      next: 'Write it as --emulate bandwidth=1Gbit/s,latency=50us.',
    },
    EMULATE_UNKNOWN_KEY: {
      means: '--emulate has no such key.',
      next: 'Use one of the keys in the message.',
    },
    ENVIRONMENT_INVALID: {
      means: 'An environment variable has a value that Gradwire cannot use.',
      next: 'Correct the variable that the message names, or remove it.',
    },
    EXPORT_NEEDS_FILE: {
      means: 'The format is not text, so it is not printed in a terminal.',
      next: 'Give a place for it with --out.',
    },
    EXPORT_TABLE_MISSING: {
      means: 'The format has all of a run in one file, and no tables to choose from.',
      next: 'Leave out --table, or choose CSV or Parquet.',
    },
    EXPORT_WRITE_FAILED: {
      means: 'The export could not be written to its file.',
      next: 'Check the space on that disk, or give another file with --out.',
    },
    NETWORK_LINK_INVALID: {
      means: 'A bandwidth or a latency cannot be used.',
      next: 'Write it as --bandwidth "1 Gbit/s" --latency "50 µs".',
    },
    WHAT_IF_MISFIT: {
      means: 'The run cannot be replayed under other settings.',
      next: 'Choose a run of synchronous training without overlap.',
    },
    WHAT_IF_TOO_FEW: {
      means: 'The plan in force has too few iterations to replay.',
      next: 'Wait, or choose a longer run.',
    },
    FORECASTER_LOST: {
      means: 'The process that predicts steps ended before it answered.',
      next: 'Read its error in the message, and ask again. After a signal the machine may be out of memory.',
    },
    FIGURE_BUSY: {
      means:
        'A figure is being reproduced already; two at once would disturb each other.',
      next: 'Wait for its end, or stop it.',
    },
    FIGURE_FAILED: {
      means: 'Reproducing a figure from the app did not end well.',
      next: 'Run its command in a terminal to see all that it says.',
    },
    FIGURE_MISSING: {
      means: 'No figure is named.',
      next: 'Name one from gradwire reproduce list, or give --all.',
    },
    FIGURE_UNKNOWN: {
      means: 'There is no figure with that name.',
      next: 'List the figures with gradwire reproduce list.',
    },
    FILE_NOT_FOUND: {
      means: 'The named file does not exist.',
      next: 'Check the path.',
    },
    FILE_TOO_LARGE: {
      means: 'The file is larger than Gradwire can process at once.',
      next: 'Split the vector, as a run splits a model into buckets.',
    },
    FILE_UNREADABLE: {
      means: 'The file cannot be read.',
      next: 'Give the path of a file that exists and that you may read.',
    },
    FORESIGHT_UNAVAILABLE: {
      means: 'The effect of a switch, or of joining, cannot be predicted for this run.',
      next: 'Switch, or let the program join, without a prediction: the effect is measured afterwards.',
    },
    FULL_SCALE_MISSING: {
      means: 'The figure can be reproduced at laptop scale only.',
      next: 'Leave out --full, or choose a figure from the message.',
    },
    INTERNAL: {
      means: 'Gradwire met a situation that its authors ruled out. It is a bug.',
      next: 'Report it with the message, the version and what you did; GRADWIRE_DEBUG=1 adds the stack.',
    },
    LINES_INVALID: {
      means: 'The number of lines is not a whole number within the allowed range.',
      next: 'Give the number of lines that the message allows.',
    },
    MEASURE_MISSING: {
      means: 'A run of a figure did not record what the figure shows.',
      next: "Read the run's notices: gradwire runs log last.",
    },
    OUTPUT_FAILED: {
      means: 'Standard output could not be written.',
      next: 'Check that the disk behind it is not full.',
    },
    OUTPUT_IS_INPUT: {
      means: 'The output file is the input file.',
      next: 'Name another file for the output.',
    },
    OUTPUT_NOT_WRITABLE: {
      means: 'The output file cannot be written.',
      next: 'Give a path in a directory that exists and that you may write to.',
    },
    PATTERN_INVALID: {
      means: 'One file name was given for several ranks.',
      next: "Put {rank} in place of the rank's number, as in 'out{rank}.f32'.",
    },
    ORDER_UNKNOWN: {
      means: 'There is no order of this name.',
      next: 'Choose one that the message lists.',
    },
    PLACES_INVALID: {
      means:
        'The list of machine numbers does not have one whole number for each rank.',
      next: 'Give a number for each rank, such as 0,0,1,1.',
    },
    PLAN_PIPELINE: {
      means: 'plan cannot predict pipelines.',
      next: 'Predict the whole model: --set parallelism=null.',
    },
    PLAN_PROGRAM: {
      means: 'plan cannot predict a program of your own.',
      next: 'Run it, and read its verdict; or replay the run otherwise: gradwire runs what-if.',
    },
    PROGRAM_OBSERVED: {
      means: 'The operation needs a program that joins, but this one is only observed.',
      next: 'Let it join: gradwire.join() (docs/pytorch.md), without --observe.',
    },
    QUANTITY_NOT_OBSERVED: {
      means:
        'None of the compared runs has the quantity, or their metrics are not the same.',
      next: 'Choose one of the quantities in the message with --of.',
    },
    QUANTIZE_INVALID: {
      means:
        'A value of --quantize is outside its range, or levels and a format are mixed.',
      next: 'Write it as --quantize bits=4,bucket=1024, or format=e4m3.',
    },
    QUANTIZE_UNKNOWN_KEY: {
      means: '--quantize has no such key.',
      next: 'Use one of the keys in the message.',
    },
    RATES_UNCOUNTED: {
      means:
        "The multiply-adds of the model's layers are not known, from which rates are derived.",
      next: 'Choose the rates yourself, with exchange.ratio and exchange.layers.',
    },
    RATES_UNKNOWN: {
      means: 'No advice on rates by layer is known for the method.',
      next: 'Choose one of the methods in the message.',
    },
    RESULTS_MISSING: {
      means: 'The directory has no results of gradwire reproduce.',
      next: 'Produce them first: gradwire reproduce --all.',
    },
    RESULT_INVALID: {
      means: 'The file is not a result of gradwire reproduce.',
      next: 'Reproduce that figure again.',
    },
    RESULT_TOO_NEW: {
      means: 'A newer version of Gradwire has written the result of a figure.',
      next: 'Update Gradwire, or use another directory.',
    },
    SETTING_INVALID: {
      means:
        'A --set is not key=value, names a key twice, or reaches into something that has no keys.',
      next: 'Write it as --set exchange.method=topk.',
    },
    TARGET_INVALID: {
      means: 'The target of a comparison is not a number.',
      next: 'Give a number, such as 0.9, or a percentage, such as 90%.',
    },
    USAGE: {
      means:
        'The command line is wrong: an unknown command or option, a missing value, or options that exclude each other.',
      next: 'Follow the suggestion in the message, or run the command with --help.',
    },
    WORLD_TOO_SMALL: {
      means:
        'The machines have fewer processors than the figure has ranks at full scale.',
      next: 'Name machines with enough processors, or leave out --full.',
    },
  },
});
