/** `gradwire bench compress`: what it prints, and that encoding allocates nothing. */
import { afterAll, expect, test } from 'vitest';
import { parseOptions } from '../../../bench/compress/options.ts';
import { compressors } from '../../../src/agent/engine.ts';
import { effort } from '../../harness/effort.ts';
import { GradwireHome } from '../../harness/gradwire.ts';
import { refusalOf } from '../../harness/refusal.ts';

const home = new GradwireHome();
afterAll(() => home[Symbol.asyncDispose]());

const LENGTH = effort({ quick: 20_000, soak: 60_000 });
const VECTORS = effort({
  quick: ['recorded'],
  soak: ['gaussian', 'laplace', 'recorded'],
});
/** Of the JavaScript heap, a call: no vector of n. What the runtime itself takes is less. */
const HEAP_BYTES = 4 * LENGTH;

interface Row {
  readonly type: string;
  readonly vector: string;
  readonly method: string;
  readonly arenaBytes: number;
  readonly heapBytes: number;
}

test('every method; once warm, encode takes no memory', { tags: 'soak' }, async () => {
  const { code, stdout, stderr } = await home.run([
    ...['bench', 'compress', '--n', `${LENGTH / 1000}k`, '--json'],
    ...['--vectors', VECTORS.join(',')],
  ]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const rows = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Row);
  expect(rows.filter(({ type }) => type === 'read').map((row) => row.vector)).toEqual(
    VECTORS,
  );
  for (const vector of VECTORS) {
    const measured = rows.filter(
      (row) => row.type === 'method' && row.vector === vector,
    );
    expect(new Set(measured.map(({ method }) => method))).toEqual(
      new Set(compressors.keys()),
    );
    for (const row of measured) {
      expect(row).toMatchObject({
        n: LENGTH,
        backend: 'wasm',
        ms: expect.any(Number),
        payloadBytes: expect.any(Number),
        relativeError: expect.any(Number),
        cosine: expect.any(Number),
        arenaBytes: 0,
      });
      expect(row.heapBytes, row.method).toBeLessThan(HEAP_BYTES);
    }
  }
});

const wrong: readonly (readonly [readonly string[], RegExp])[] = [
  [['--n', '1Q'], /"1Q"/],
  [['--methods', 'tokp'], /tokp.*topk/],
  [['--vectors', 'cauchy'], /gaussian, laplace, recorded/],
  [['--backend', 'abacus'], /reference, wasm/],
];

test.each(wrong)('bench compress %j: refused', (options, message) => {
  const { text, input } = refusalOf(() => parseOptions(options));
  expect(text).toMatch(/^BENCH_OPTION_INVALID: /);
  expect(text).toMatch(message);
  expect(input).toBe(true);
});

test('of the command that is one line and exit code 2', async () => {
  const options = [
    ['1Q', /"1Q"/],
    ['-1', /"-1"/],
  ] as const;
  for (const [option, text] of options.slice(0, effort({ quick: 1, soak: 2 }))) {
    const { code, stderr } = await home.run(['bench', 'compress', '--n', option]);
    expect(stderr).toMatch(/^gradwire: BENCH_OPTION_INVALID: .*\n$/);
    expect(stderr).toMatch(text);
    expect(code).toBe(2);
  }
});
