/** What becomes of what a rank prints: lines, levels, gaps that are counted, bounds. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  LineSplitter,
  LONGEST_LINE,
} from '../../../src/agent/supervisor/ranks/line-splitter.ts';
import { levelOf } from '../../../src/agent/supervisor/ranks/log-level.ts';
import { PrintedLog } from '../../../src/agent/supervisor/ranks/printed-log.ts';
import type { LogRecord } from '../../../src/shared/records/log.ts';
import { parseRecord } from '../../../src/shared/records/record-kinds.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: 1000 });
});
afterEach(() => {
  vi.useRealTimers();
});

function log() {
  const records: LogRecord[] = [];
  let iteration: number | undefined;
  const printed = new PrintedLog(3, {
    iteration: () => iteration,
    write: (some) => {
      records.push(...some);
    },
  });
  const print = (text: string, stream: LogRecord['stream'] = 'stderr') => {
    printed.take(stream, Buffer.from(text));
  };
  const reach = (next: number) => (iteration = next);
  return { records, printed, print, reach };
}

test('a line has its rank, time, stream, level and iteration, as a valid record', () => {
  const { records, print, reach, printed } = log();
  print('before\n', 'stdout');
  reach(7);
  print('(node:12) Warning: slow\nplain\n');
  vi.advanceTimersByTime(100);
  printed.close();
  const common = { type: 'log', at: 1000, rank: 3 };
  expect(records).toEqual([
    { ...common, stream: 'stdout', text: 'before' },
    {
      ...common,
      stream: 'stderr',
      iteration: 7,
      level: 'warning',
      text: '(node:12) Warning: slow',
    },
    { ...common, stream: 'stderr', iteration: 7, text: 'plain' },
  ]);
  expect(records.map(parseRecord)).toEqual(records);
});

test('a flood is thinned: each line once, in order, every gap counted, the last kept', () => {
  const { records, print, printed } = log();
  let next = 0;
  for (let second = 0; second < 250; second++) {
    for (let chunk = 0; chunk < 5; chunk++) {
      let text = '';
      for (let line = 0; line < 300; line++) text += `flood ${next++}\n`;
      // Chunks end anywhere.
      print(text.slice(0, 137));
      print(text.slice(137));
      vi.advanceTimersByTime(200);
    }
  }
  print('last words, without an end');
  printed.close();
  let expected = 0;
  for (const { text, dropped = 0 } of records.slice(0, -1)) {
    expected += dropped;
    // Too many for a matcher each.
    if (text !== `flood ${expected}`) throw new Error(`${text} at ${expected}`);
    expected++;
  }
  expect(expected).toBe(next);
  expect(records.at(-1)!.text).toBe('last words, without an end');
  expect(records[0]!.text).toBe('flood 0');
  const characters = records.length * 100;
  expect(characters).toBeGreaterThan(4_000_000);
  expect(characters).toBeLessThan(6_000_000);
});

describe('lines', () => {
  const split = (...chunks: (string | Buffer)[]) => {
    const splitter = new LineSplitter();
    return [
      ...chunks.flatMap((chunk) => splitter.split(Buffer.from(chunk)).lines),
      ...splitter.end(),
    ];
  };
  const texts = (...chunks: (string | Buffer)[]) =>
    split(...chunks).map(({ text }) => text);

  test('end where they end, not where chunks do, in the middle of a character either', () => {
    const bytes = Buffer.from('né\r\nsecond…\n\nthird');
    const single = [...bytes].map((byte) => Buffer.from([byte]));
    expect(texts(...single)).toEqual(['né', 'second…', 'third']);
  });

  test('have no colours, control characters or titles of windows', () => {
    expect(texts('\x1b[31mred\x1b[0m\x07 \x1b]0;title\x07bell\x00\tkept\n')).toEqual([
      'red bell\tkept',
    ]);
    expect(texts('10 %\r50 %\r100 %\n')).toEqual(['100 %']);
  });

  test('that are too long are cut, and say by how much', () => {
    const long = 'x'.repeat(LONGEST_LINE);
    expect(split(long, 'yyy', 'zz\nnext\n')).toEqual([
      { text: long, cut: 5 },
      { text: 'next', cut: 0 },
    ]);
  });
});

test.each([
  ['(node:5) Warning: x', 'warning'],
  ['(node:5) [DEP0040] DeprecationWarning: x', 'warning'],
  ['WARN something', 'warning'],
  ['UserWarning: x', 'warning'],
  ['Error: x', 'error'],
  ['TypeError: x is not a function', 'error'],
  ['Uncaught ReferenceError', 'error'],
  ['[error] no device', 'error'],
  ['FATAL ERROR: heap', 'error'],
  ['no errors found', undefined],
  ['the error was small', undefined],
  ['    at main (file.js:3:1)', undefined],
] as const)('%s is %s', (text, level) => {
  expect(levelOf(text)).toBe(level);
});
