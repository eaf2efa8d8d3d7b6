/** The steps of a deployment on stderr: a line for each, the upload with its progress. */
import type { DeployProgress } from '../../main/deploy/deployer.ts';

const NAMES = {
  check: 'checking the machine',
  pack: 'packing',
  upload: 'uploading',
  verify: 'verifying',
  unpack: 'unpacking',
} as const;
const CLEAR_LINE = '\r\u001B[K';

export function deployPrinter(): (progress: DeployProgress) => void {
  let last = '';
  return ({ step, package: about, doneBytes = 0, totalBytes }) => {
    const what = `${NAMES[step]}${about === undefined ? '' : ` the ${about}`}`;
    const isNew = what !== last;
    last = what;
    if (process.stderr.isTTY) {
      const part =
        totalBytes === undefined
          ? ''
          : `: ${mebibytes(doneBytes)} of ${mebibytes(totalBytes)} MiB`;
      process.stderr.write(`${isNew ? '\n' : CLEAR_LINE}${what}${part}`);
    } else if (isNew) {
      const size = totalBytes === undefined ? '' : ` (${mebibytes(totalBytes)} MiB)`;
      process.stderr.write(`${what}${size}\n`);
    }
  };
}

const mebibytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(1);
