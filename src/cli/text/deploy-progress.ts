/**
 * The steps of deployments on stderr: a line for each, an upload with its progress. Several
 * machines may be deployed to at once.
 */
import {
  DEPLOY_STEP_NAMES,
  type DeployProgress,
} from '../../shared/machines/node-status.ts';
import { rewrites } from './terminal.ts';

const CLEAR_LINE = '\r\u001B[K';

export interface DeployPrinterOptions {
  /**
   * Prints nothing before something is fetched or uploaded, because a deployment that a run
   * needs is mostly a look that all is there.
   */
  readonly brief?: boolean;
}

export function deployPrinter({ brief = false }: DeployPrinterOptions = {}): (
  node: string,
  progress: DeployProgress | undefined,
) => void {
  /** The step of each machine that is deployed to. */
  const steps = new Map<string, string>();
  /** Parts of the terminal's current line, by machine. */
  const shown = new Map<string, string>();
  const redraw = (): void => {
    process.stderr.write(`${CLEAR_LINE}${[...shown.values()].join('; ')}`);
  };
  /** The last state of a step stays as a line. */
  const keep = (node: string): void => {
    const line = shown.get(node);
    if (line === undefined) return;
    process.stderr.write(`${CLEAR_LINE}${line}\n`);
    shown.delete(node);
    if (shown.size > 0) redraw();
  };
  return (node, progress) => {
    if (progress === undefined) {
      keep(node);
      steps.delete(node);
      return;
    }
    const { step, package: about, doneBytes = 0, totalBytes } = progress;
    if (brief && !steps.has(node) && step !== 'fetch' && step !== 'upload') return;
    const what =
      `${node}: ${DEPLOY_STEP_NAMES[step]}` +
      (about === undefined ? '' : ` the ${about}`);
    const isNew = what !== steps.get(node);
    steps.set(node, what);
    if (rewrites(process.stderr)) {
      if (isNew) keep(node);
      const part =
        totalBytes === undefined
          ? ''
          : `: ${mebibytes(doneBytes)} of ${mebibytes(totalBytes)} MiB`;
      shown.set(node, `${what}${part}`);
      redraw();
    } else if (isNew) {
      const size = totalBytes === undefined ? '' : ` (${mebibytes(totalBytes)} MiB)`;
      process.stderr.write(`${what}${size}\n`);
    }
  };
}

const mebibytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(1);
