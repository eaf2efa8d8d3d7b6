/** Codes, with what each means and the next step: data. */
import { codeGroup } from './code-group.ts';

export const dataCodes = codeGroup({
  title: 'Data',
  about: 'Data sets: files, columns, downloads. A fault is named with file and offset.',
  codes: {
    COLUMNS_TOO_MANY: {
      means: 'The file has more columns than a sample can hold.',
      next: 'Name those to use, in workload.columns.',
    },
    COLUMN_REPEATED: { means: 'A column is listed twice.', next: 'List it once.' },
    COLUMN_UNKNOWN: {
      means: 'The file has no such column.',
      next: 'Use a name in the message.',
    },
    DATA_DIRECTORY_MISSING: {
      means: 'workload.data is not a directory, or is needed and not set.',
      next: 'Give a directory with the files that docs/data.md lists.',
    },
    DATA_FILE_CHANGED: {
      means: 'A data file changed while it was read.',
      next: 'Start again when nothing writes it any more.',
    },
    DATA_FILE_CORRUPT: {
      means: 'A data file is damaged at the offset in the message.',
      next: 'Fetch or copy it again.',
    },
    DATA_FILE_DIFFERS: {
      means: 'An existing file differs from the published one. It is not overwritten.',
      next: 'Move it away and fetch again, or fetch to another directory (--to).',
    },
    DATA_FILE_MISSING: {
      means: 'A data file is missing.',
      next: 'Put it there; docs/data.md lists the names.',
    },
    DATA_FILE_TRUNCATED: {
      means: 'A data file ends too early.',
      next: 'Fetch or copy it again.',
    },
    DATA_FILE_UNREADABLE: {
      means: 'A data file cannot be read.',
      next: 'Check that it is a file and that you may read it.',
    },
    DATA_MISMATCH: {
      means:
        'Files of a data set do not fit each other, or hold other values than expected.',
      next: 'Correct the place that the message names.',
    },
    DATA_NOT_READ: {
      means: 'The process that reads the data ended before it was done.',
      next: 'Memory may have run out. Try a part of the data.',
    },
    DATA_SET_UNKNOWN: {
      means: 'There is no public data set of that name.',
      next: 'List them with gradwire data list.',
    },
    DATA_TOO_FEW_SAMPLES: {
      means: 'The data have fewer samples than the run needs.',
      next: 'Use more data, fewer ranks or a smaller batch.',
    },
    DATA_TOO_LARGE: {
      means: 'The data exceed a limit of their format or of memory.',
      next: 'Use a part of the data.',
    },
    DATA_TRAILING_BYTES: {
      means: 'A data file has more bytes than its header says.',
      next: 'Fetch or copy it again.',
    },
    DATA_WRONG_MAGIC: {
      means: 'A data file is of another format.',
      next: 'Give a file of the format that the message names.',
    },
    FETCH_FAILED: {
      means: 'A data set could not be downloaded.',
      next: 'Check the connection and the proxy, or give files of your own with --from.',
    },
    FETCH_STOPPED: {
      means: 'The download was stopped.',
      next: 'Run the command again to resume it.',
    },
    FETCH_UNDER_WAY: {
      means: 'The same data set is already being fetched.',
      next: 'Wait for it to finish, or stop it.',
    },
    INSPECTION_INVALID: {
      means: 'The process that reads data answered with something else.',
      next: 'Use the same version of Gradwire everywhere; otherwise report it as a bug.',
    },
    MIRROR_INVALID: {
      means: 'GRADWIRE_DATA_MIRROR is not an http or https URL.',
      next: 'Correct it, or unset it.',
    },
    PROXY_INVALID: {
      means: "HTTP_PROXY or HTTPS_PROXY is not a proxy's URL.",
      next: 'Set it to a URL such as http://proxy.example:3128.',
    },
    VOCABULARY_OVERFLOW: {
      means: 'The text has more different words or characters than the model knows.',
      next: 'Use a model with a larger vocabulary, or the data set text, byte by byte.',
    },
  },
});
