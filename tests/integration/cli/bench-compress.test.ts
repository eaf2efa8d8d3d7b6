/** `gradwire bench compress`: what it prints, and that encoding allocates nothing. */
import { afterAll, expect, test } from 'vitest';
import { compressors } from '../../../src/agent/engine.ts';
import { GradwireHome } from '../../harness/gradwire.ts';

const home = new GradwireHome();
afterAll(() => home[Symbol.asyncDispose]());

const LENGTH = 100_000;
/** Of the JavaScript heap, a call: records of a few numbers, nothing that grows with n. */
const HEAP_BYTES = 16_384;

interface Row {
  readonly type: string;
  readonly vector: string;
  readonly method: string;
  readonly arenaBytes: number;
  readonly heapBytes: number;
}

test('every method on every vector; once warm, encode takes no memory', async () => {
  const { code, stdout, stderr } = await home.run([
    ...['bench', 'compress', '--n', '100k', '--json'],
  ]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const rows = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Row);
  const vectors = ['gaussian', 'laplace', 'recorded'];
  expect(rows.filter(({ type }) => type === 'read').map((row) => row.vector)).toEqual(
    vectors,
  );
  for (const vector of vectors) {
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

test.each([
  [['--n', '1Q'], 'BENCH_OPTION_INVALID', /"1Q"/],
  [['--methods', 'tokp'], 'BENCH_OPTION_INVALID', /tokp.*topk/],
  [['--vectors', 'cauchy'], 'BENCH_OPTION_INVALID', /gaussian, laplace, recorded/],
  [['--backend', 'abacus'], 'BENCH_OPTION_INVALID', /reference, wasm/],
])('bench compress %j: %s', async (options, code, message) => {
  const { code: exit, stderr } = await home.run(['bench', 'compress', ...options]);
  expect(stderr).toMatch(new RegExp(`^gradwire: ${code}: .*\n$`));
  expect(stderr).toMatch(message);
  expect(exit).toBe(2);
});
