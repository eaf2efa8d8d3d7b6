/** A data set in one file, NAME or NAME.gz, and the file of its test part beside it. */
import { lstatSync, statSync, type Stats } from 'node:fs';
import { inputError } from '../../../shared/errors/errors.ts';

export interface SplitFiles {
  readonly train: string;
  readonly test?: string | undefined;
}

/**
 * @throws GradwireError `DATA_FILE_UNREADABLE` where something that is no file has the name of the
 * test part
 */
export function withTestFile(train: string): SplitFiles {
  for (const test of testNames(train)) {
    const status = statusOf(test, train);
    if (status === undefined) {
      if (isLink(test)) throw unreadable(test, train, 'is a link that leads nowhere');
      continue;
    }
    if (status.isFile()) return { train, test };
    throw unreadable(test, train, 'is not a file');
  }
  return { train };
}

function isLink(place: string): boolean {
  try {
    return lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  } catch {
    return false; // no file can have that name
  }
}

/** The state of the file with test samples; undefined if no such file is there, or can be. */
function statusOf(test: string, train: string): Stats | undefined {
  try {
    return statSync(test, { throwIfNoEntry: false });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENAMETOOLONG') return undefined;
    throw unreadable(test, train, `may not be read (${code})`);
  }
}

const unreadable = (test: string, train: string, why: string): Error =>
  inputError('DATA_FILE_UNREADABLE', `${test} ${why}`, {
    place: test,
    next: `It has the name of the test part of ${train}. Rename it, or put the file there.`,
  });

const GZIPPED = /\.gz$/;

/** The names that the test part of NAME or NAME.gz may have: NAME.t first, gzipped or not. */
export function testNames(train: string): readonly string[] {
  const name = train.replace(GZIPPED, '');
  const beside = [`${name}.t`, `${name}.t.gz`];
  return name === train ? beside : [`${train}.t`, ...beside.toReversed()];
}
