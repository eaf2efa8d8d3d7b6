/** The steps of a deployment on stderr: a line for each, the upload with its progress. */
import { DEPLOY_STEP_NAMES, type DeployProgress } from '../../shared/node-status.ts';

const CLEAR_LINE = '\r\u001B[K';

export function deployPrinter(): (
  node: string,
  progress: DeployProgress | undefined,
) => void {
  let last = '';
  return (node, progress) => {
    const isTerminal = process.stderr.isTTY;
    if (progress === undefined) {
      if (isTerminal && last !== '') process.stderr.write('\n');
      last = '';
      return;
    }
    const { step, package: about, doneBytes = 0, totalBytes } = progress;
    const what =
      `${node}: ${DEPLOY_STEP_NAMES[step]}` +
      (about === undefined ? '' : ` the ${about}`);
    const isNew = what !== last;
    const isFirst = last === '';
    last = what;
    if (isTerminal) {
      const part =
        totalBytes === undefined
          ? ''
          : `: ${mebibytes(doneBytes)} of ${mebibytes(totalBytes)} MiB`;
      const before = !isNew ? CLEAR_LINE : isFirst ? '' : '\n';
      process.stderr.write(`${before}${what}${part}`);
    } else if (isNew) {
      const size = totalBytes === undefined ? '' : ` (${mebibytes(totalBytes)} MiB)`;
      process.stderr.write(`${what}${size}\n`);
    }
  };
}

const mebibytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(1);
