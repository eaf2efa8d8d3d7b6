/** Progress of a fetch, on stderr: a bar in a terminal, else a line for each file. */
import type { FetchProgress } from '../../main/data-sets/fetch-set.ts';
import {
  formatBytes,
  formatElapsed,
  formatWholePercent,
} from '../../shared/words/units.ts';
import { rewrites } from './terminal.ts';

const CLEAR_LINE = '\r\u001B[K';
const WIDTH = 24;
const REDRAW_MS = 100;

export interface FetchPrinter {
  show(progress: FetchProgress): void;
  end(): void;
}

export function fetchPrinter(): FetchPrinter {
  const isTerminal = rewrites(process.stderr);
  let began: { readonly at: number; readonly done: number } | undefined;
  let drawn = -Infinity;
  let file = '';
  return {
    show: (progress) => {
      const now = performance.now();
      began ??= { at: now, done: progress.done };
      if (!isTerminal) {
        if (progress.file !== file) process.stderr.write(`${line(progress)}\n`);
        file = progress.file;
        return;
      }
      if (now - drawn < REDRAW_MS && progress.done < progress.total) return;
      drawn = now;
      const rate = (progress.done - began.done) / ((now - began.at) / 1000);
      process.stderr.write(`${CLEAR_LINE}${bar(progress)}${pace(progress, rate)}`);
    },
    end: () => {
      if (isTerminal && began !== undefined) process.stderr.write('\n');
    },
  };
}

const line = ({ file, done, total }: FetchProgress): string =>
  `${file}: ${formatBytes(done)} of ${formatBytes(total)} downloaded`;

function bar({ file, done, total }: FetchProgress): string {
  const filled = Math.floor((WIDTH * done) / total);
  const blocks = '█'.repeat(filled) + '░'.repeat(WIDTH - filled);
  const part = formatWholePercent(done / total).padStart(5);
  return `${file} ${blocks} ${part} of ${formatBytes(total)}`;
}

function pace({ done, total }: FetchProgress, rate: number): string {
  if (!(rate > 0) || done === total) return '';
  const left = formatElapsed((1000 * (total - done)) / rate);
  return `, ${formatBytes(rate)}/s, ${left} left`;
}
