/** A data set in one file, NAME or NAME.gz, and the file of its test part beside it. */
import { statSync } from 'node:fs';
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
    const status = statSync(test, { throwIfNoEntry: false });
    if (status === undefined) continue;
    if (status.isFile()) return { train, test };
    throw inputError('DATA_FILE_UNREADABLE', `${test} is not a file`, {
      place: test,
      next: `It has the name of the test part of ${train}. Rename it, or put the file there.`,
    });
  }
  return { train };
}

const GZIPPED = /\.gz$/;

/** The names that the test part of NAME or NAME.gz may have: NAME.t first, gzipped or not. */
export function testNames(train: string): readonly string[] {
  const name = train.replace(GZIPPED, '');
  const beside = [`${name}.t`, `${name}.t.gz`];
  return name === train ? beside : [`${train}.t`, ...beside.toReversed()];
}
