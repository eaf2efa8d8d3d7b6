/** Real data for tests, where this machine has it: it is not part of the project. */
import { existsSync } from 'node:fs';
import path from 'node:path';

/**
 * The directory, `$GRADWIRE_DATA` or `../shared/data`, that has this file. Where neither has,
 * a line says what is skipped.
 */
export function realDataWith(file: string): string | undefined {
  const directory = [process.env['GRADWIRE_DATA'], '../shared/data']
    .filter((one) => one !== undefined)
    .map((one) => path.resolve(one))
    .find((one) => existsSync(path.join(one, file)));
  if (directory === undefined) {
    process.stderr.write(
      `Skipping tests on real data: no ${file} in $GRADWIRE_DATA or ../shared/data.\n`,
    );
  }
  return directory;
}
