/** The progress of an export, on stderr, if that is a terminal and the export is not printed there. */
import { formatWholePercent } from '../../shared/words/units.ts';
import { rewrites } from './terminal.ts';

const CLEAR_LINE = '\r\u001B[K';
const REDRAW_MS = 100;

export interface ExportProgress extends Disposable {
  /** @param done the part that has been read, 0…1 */
  readonly show: (done: number) => void;
}

/** @param output the file; undefined: standard output */
export function exportProgress(output: string | undefined): ExportProgress {
  const isShown =
    rewrites(process.stderr) && (output !== undefined || !process.stdout.isTTY);
  let drawn = performance.now();
  let isDrawn = false;
  return {
    show: (done) => {
      const now = performance.now();
      if (!isShown || now - drawn < REDRAW_MS) return;
      [drawn, isDrawn] = [now, true];
      process.stderr.write(
        `${CLEAR_LINE}exporting: ${formatWholePercent(done)} of the run is read`,
      );
    },
    [Symbol.dispose]: () => {
      if (isDrawn) process.stderr.write(CLEAR_LINE);
    },
  };
}
