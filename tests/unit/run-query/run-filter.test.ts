import { describe, expect, it } from 'vitest';
import {
  LONGEST_FILTER,
  MOST_TERMS,
  parseFilter,
  readFilter,
  type FilterTerm,
} from '../../../src/shared/run-query/run-filter.ts';
import { RUN_KEYS, placeId } from '../../../src/shared/run-query/run-key.ts';
import {
  DEFAULT_UNITS,
  provideUnits,
} from '../../../src/shared/words/display-units.ts';

const context = {
  specKeys: ['exchange.method', 'exchange.ratio', 'parallelism.kind', 'optimizer.kind'],
  now: new Date(2026, 10, 27, 15, 30).getTime(),
};
const day = (month: number, date: number): number =>
  new Date(2026, month - 1, date).getTime();

/** Terms in a few words: `-metric > 0.9`. */
function terms(text: string): readonly string[] {
  return parseFilter(text, context).map(short);
}

function short(term: FilterTerm): string {
  const sign = term.isNegated ? '-' : '';
  if (term.kind === 'words') return `${sign}"${term.text}"`;
  const key = sign + placeId(term.key);
  if (term.kind === 'present') return `${key} *`;
  if (term.kind === 'match') {
    const texts = term.patterns.map(({ isWhole, text }) =>
      isWhole ? text : `…${text}…`,
    );
    return `${key} ${texts.join('|')}`;
  }
  const tests = term.alternatives.map((all) =>
    all.map(({ operator, value }) => `${operator} ${value}`).join(' & '),
  );
  return `${key} ${tests.join(' | ')}`;
}

describe('a filter', () => {
  it('has terms, words and quotes, with or without blanks around an order', () => {
    expect(terms('method:topk loss<0.2  tag:paper')).toEqual([
      'method topk',
      'loss < 0.2',
      'tag paper',
    ]);
    expect(terms('loss < 0.2 ranks >=4 method: topk')).toEqual([
      'loss < 0.2',
      'ranks >= 4',
      'method topk',
    ]);
    expect(terms('mnist "two words" -"not these" a-b - -c')).toEqual([
      '"mnist"',
      '"two words"',
      '-"not these"',
      '"a-b"',
      '"-"',
      '-"c"',
    ]);
    expect(terms('')).toEqual([]);
    expect(terms('   ')).toEqual([]);
  });

  it('takes alternatives, stars, and what is not', () => {
    expect(terms('state:failed,Stopped')).toEqual(['state failed|Stopped']);
    expect(terms('tag:* -note:*')).toEqual(['tag *', '-note *']);
    expect(terms('tag!=draft -tag!=draft')).toEqual(['-tag draft', 'tag draft']);
    expect(terms('name:base name=base name:b*e')).toEqual([
      'name …base…',
      'name base',
      'name b*e',
    ]);
    expect(terms('name:"a, b",c')).toEqual(['name …a, b…|…c…']);
    expect(terms('tag:"*"')).toEqual(['tag *']);
  });

  it('reads values by the kind of their key', () => {
    expect(terms('metric>90% loss:1e-3 loss<-.5')).toEqual([
      'metric > 0.9',
      'loss = 0.001',
      'loss < -0.5',
    ]);
    expect(terms('size>10MB size<=1KiB duration>10min duration<30 age<7d')).toEqual([
      'size > 10000000',
      'size <= 1024',
      'duration > 600000',
      'duration < 30000',
      'age < 604800000',
    ]);
  });

  it('takes a date as a stretch of time', () => {
    expect(terms('started:2026-11-01')).toEqual([
      `started >= ${day(11, 1)} & < ${day(11, 2)}`,
    ]);
    expect(terms('started>2026-11-01 started>=2026-11-01')).toEqual([
      `started >= ${day(11, 2)}`,
      `started >= ${day(11, 1)}`,
    ]);
    expect(terms('started<2026-11 started<=2026-12')).toEqual([
      `started < ${day(11, 1)}`,
      `started < ${new Date(2027, 0, 1).getTime()}`,
    ]);
    expect(terms('ended:today ended>yesterday')).toEqual([
      `ended >= ${day(11, 27)} & < ${day(11, 28)}`,
      `ended >= ${day(11, 27)}`,
    ]);
    const minute = new Date(2026, 10, 1, 9, 30).getTime();
    expect(terms('started:2026-11-01T9:30')).toEqual([
      `started >= ${minute} & < ${minute + 60_000}`,
    ]);
  });

  it('reads a date on the clock on which dates are shown', () => {
    provideUnits(() => ({ ...DEFAULT_UNITS, clock: 'utc' }));
    try {
      const from = Date.UTC(2026, 10, 1, 9, 30);
      expect(terms('started:2026-11-01T9:30')).toEqual([
        `started >= ${from} & < ${from + 60_000}`,
      ]);
      const now = Date.UTC(2026, 10, 27, 0, 5);
      expect(parseFilter('ended:today', { ...context, now }).map(short)).toEqual([
        `ended >= ${Date.UTC(2026, 10, 27)} & < ${Date.UTC(2026, 10, 28)}`,
      ]);
      expect(() => terms('started>2026-02-30')).toThrow('2026-02-30');
    } finally {
      provideUnits(() => DEFAULT_UNITS);
    }
  });

  it('finds a key of specs by its path or its last part', () => {
    expect(terms('exchange.ratio<0.1 ratio:0.01,"1 %"')).toEqual([
      'exchange.ratio < 0.1',
      'exchange.ratio 0.01|1 %',
    ]);
    const [match] = parseFilter('ratio:1e-2', context);
    expect(match).toMatchObject({ patterns: [{ text: '1e-2', number: 0.01 }] });
    // The list's own key comes first, as both mean the same.
    expect(terms('method:topk')).toEqual(['method topk']);
  });

  it.each([
    ['lost<0.2', 0, 4, 'Did you mean "loss"? To find it as text, write it in quotes.'],
    [
      'tag:a exchange.raito<1',
      6,
      20,
      'Did you mean "exchange.ratio"? To find it as text, write it in quotes.',
    ],
    ['kind:sgd', 0, 4, 'Say which one: parallelism.kind, optimizer.kind.'],
    ['a loss<', 2, 7, 'Write a number, such as 0.2, 1e-3 or 90% after it.'],
    ['loss<x', 5, 6, 'Write a number, such as 0.2, 1e-3 or 90%.'],
    ['loss<1,2', 7, 8, 'Write a second term, or loss: with values between commas.'],
    ['ranks:4,many', 8, 12, 'Write a number, such as 4.'],
    ['ranks>50%', 6, 9, 'Write a number, such as 4.'],
    ['ratio<x', 6, 7, 'Write a number, such as 0.2, 1e-3 or 90%, or use a colon.'],
    ['tag<x', 0, 3, 'Use a colon: tag:x.'],
    [
      'state:done',
      6,
      10,
      'Write starting, queued, running, completed, stopped or failed.',
    ],
    [
      'alert:at-chance,bogus',
      16,
      21,
      'Write loss-not-finite, loss-rising, at-chance, long-wait, silent-rank, growing-residual, disk-filling or run-failed.',
    ],
    [
      'started>2026-02-30',
      8,
      18,
      'Write a date, such as 2026-11-01, 2026-11, today or yesterday.',
    ],
    [
      'started>2026-13',
      8,
      15,
      'Write a date, such as 2026-11-01, 2026-11, today or yesterday.',
    ],
    ['size>9e999', 5, 10, 'Write a size, such as 10MB.'],
  ])('says where it cannot be read, and what to write: %s', (text, from, to, next) => {
    expect(readFilter(text, context).problems).toMatchObject([{ from, to, next }]);
    expect(() => parseFilter(text, context)).toThrow(
      expect.objectContaining({
        code: 'RUN_FILTER_INVALID',
        kind: 'input',
        place: `filter, character ${from + 1}`,
        next,
      }),
    );
  });

  it('is bounded', () => {
    const many = Array.from({ length: MOST_TERMS + 1 }, () => 'a').join(' ');
    expect(readFilter(many, context).problems).toHaveLength(1);
    expect(
      readFilter('x'.repeat(LONGEST_FILTER + 1), context).problems[0]!.message,
    ).toContain('characters');
  });

  it('has an end for any text', () => {
    for (const text of [
      '"',
      '-"',
      'a:"b',
      ',,,',
      'a:,',
      '":"',
      '<<>>',
      '-',
      '\u202e:',
    ]) {
      expect(() => readFilter(text, context)).not.toThrow();
    }
  });

  it('can be written as the examples of all keys say', () => {
    for (const { example, id } of RUN_KEYS) {
      expect(terms(example)[0]!.split(' ')[0]).toBe(id);
    }
  });
});
