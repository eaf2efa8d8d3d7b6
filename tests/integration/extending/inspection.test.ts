/** Models in files of the user's own, as they are looked at before a run. */
import { describe, expect, test } from 'vitest';
import { inspectOwnModel } from '../../../src/agent/training/inspect/inspect-model.ts';
import { documented } from '../../harness/documented.ts';
import { effort } from '../../harness/effort.ts';

const twoLayer = documented('models.md', 'ts', '// two-layer.ts');
const autoencoder = documented('models.md', 'ts', '// autoencoder.ts');
const threeLayer = documented('models.md', 'ts', '// three-layer.ts');
const nextToken = documented('models.md', 'ts', '// next-token.ts');
const normalized = documented('models.md', 'ts', '// normalized.ts');

const inspect = (modelSource: string) =>
  inspectOwnModel({
    workload: { model: './own.ts', modelSource, dataset: 'digits', batchPerRank: 8 },
  });

test('the examples of the documentation are what they say', async () => {
  expect(await inspect(twoLayer)).toEqual({
    id: 'two-layer',
    inputs: {
      inputs: { type: 'f32', shape: [784] },
      labels: { type: 'i32', shape: [], below: 10 },
    },
    tensors: [
      { name: 'hidden.weight', shape: [784, 32] },
      { name: 'hidden.bias', shape: [32] },
      { name: 'output.weight', shape: [32, 10] },
      { name: 'output.bias', shape: [10] },
    ],
  });
  expect(await inspect(autoencoder)).toMatchObject({ id: 'autoencoder' });
  expect(await inspect(normalized)).toMatchObject({ id: 'normalized' });
});

test('layers and their tensors are known before a run', async () => {
  expect((await inspect(threeLayer))?.layers).toEqual(
    [1, 2, 3].map((number) => ({
      name: `layer${number}`,
      tensors: [`layer${number}.weight`, `layer${number}.bias`],
    })),
  );
  const tied = await inspect(nextToken);
  expect(tied?.tensors.map(({ name }) => name)).toEqual(['embedding', 'mixed', 'bias']);
  expect(tied?.layers?.at(-1)).toEqual({
    name: 'scores',
    tensors: ['embedding', 'bias'],
  });
  expect((await inspect(twoLayer))?.layers).toBeUndefined();
});

test('what is a table is known before a run', async () => {
  const found = await inspect(documented('models.md', 'ts', '// bag-of-features.ts'));
  expect(found?.tensors.map(({ rowsOf }) => rowsOf)).toEqual(['features', undefined]);
});

test('a model by name is no file', async () => {
  const workload = { model: 'fnn3', dataset: 'digits', batchPerRank: 8 };
  expect(await inspectOwnModel({ workload })).toBeUndefined();
});

const changed = (from: string, to: string, source = twoLayer): string => {
  if (!source.includes(from)) throw new Error(`the example has no ${from}`);
  return source.replace(from, to);
};

const lineOf = (text: string, source = twoLayer): number =>
  source.slice(0, source.indexOf(text)).split('\n').length;

const NO_TALLY = "() => { throw new Error('no tally'); }";
const withTally = (of: string, sums = 1): string =>
  changed(
    "metric: 'mse'",
    `metric: { id: 'own', title: 'own', format: 'number', better: 'lower', sums: ${sums},
      tally: { length: 6, of: ${of} }, value: () => undefined }`,
    autoencoder,
  );

describe('what cannot be trained is refused, with its reason', () => {
  const faults: readonly (readonly [code: string, message: RegExp, source: string])[] =
    [
      ['MODEL_FILE_INVALID', /own.ts: line 2: Unexpected token/, '\nconst = 3;'],
      [
        'MODEL_FILE_INVALID',
        /own.ts: it awaits something that never happens$/,
        'await new Promise(() => {});',
      ],
      [
        'MODEL_FILE_INVALID',
        /"metric": .*one of "accuracy"/,
        changed("metric: 'mse'", "metric: 'foo'", autoencoder),
      ],
      ['MODEL_FILE_INVALID', /it has no default export/, 'export const a = 1;'],
      ['MODEL_FILE_INVALID', /it is not an object/, 'export default 5;'],
      [
        'MODEL_FILE_INVALID',
        /own\.ts: line 1: it calls process\.exit\(0\)/,
        'process.exit(0);',
      ],
      [
        'MODEL_FILE_INVALID',
        /own\.ts: line 2: it calls process\.exit\(\)/,
        "import { exit } from 'node:process';\nexit();",
      ],
      [
        'MODEL_FILE_INVALID',
        /it ended its own process by SIGABRT$/,
        'process.abort();',
      ],
      ['MODEL_FILE_INVALID', /it throws nothing good/, 'throw "nothing good";'],
      [
        'MODEL_FILE_INVALID',
        /own.ts: line 1: nobody waits$/,
        `Promise.reject(new Error('nobody waits'));\n${twoLayer}`,
      ],
      ['MODEL_FILE_INVALID', /throws undefined$/, `Promise.reject();\n${twoLayer}`],
      [
        'MODEL_FILE_INVALID',
        new RegExp(`own.ts: line ${lineOf('classes: 10')}: no idea`),
        changed('classes: 10', "get classes() { throw new Error('no idea'); }"),
      ],
      [
        'MODEL_FILE_INVALID',
        /own.ts: line \d+: Maximum call stack size exceeded$/,
        changed('return numpy', '(function again() { again(); })(); return numpy'),
      ],
      [
        'MODEL_FILE_INVALID',
        new RegExp(
          'own.ts: initialize of its tensor "hidden.bias": ' +
            `line ${lineOf("'zeros'")}: no idea$`,
        ),
        changed("'zeros'", "() => { throw new Error('no idea'); }"),
      ],
      [
        'MODEL_FILE_INVALID',
        /it has 10,0\d\d,\d{3},\d{3} parameters.*; its tensor "hidden.bias" is \[100000, 100000\]$/,
        changed('shape: [hidden]', 'shape: [100000, 100000]'),
      ],
      [
        'MODEL_FILE_INVALID',
        /it imports ".\/other.ts"; a model is a single file/,
        `import { x } from './other.ts';\n${twoLayer}`,
      ],
      ['MODEL_FILE_INVALID', /enum is not supported/, `enum A { B }\n${twoLayer}`],
      [
        'MODEL_FILE_INVALID',
        new RegExp(`own.ts: line ${lineOf('const units =')}: no idea`),
        changed('const units =', "throw new Error('no idea'); const units ="),
      ],
      [
        'MODEL_FILE_INVALID',
        new RegExp(`own.ts: line ${lineOf('return values!.add', nextToken)}: no idea$`),
        changed('return values!', "throw new Error('no idea'); values!", nextToken),
      ],
      [
        'MODEL_FILE_INVALID',
        /own.ts: its outputs of layer "layer2" have the shape \[2, 32\], expected \[2, 33\]$/,
        changed('output: [width]', 'output: [number === 2 ? 33 : width]', threeLayer),
      ],
      [
        'MODEL_FILE_INVALID',
        /its logits have the shape \[2, 10\], expected \[2, 12\]/,
        changed('classes: 10', 'classes: 12'),
      ],
      [
        'MODEL_FILE_INVALID',
        /its logits are not a jax-js array/,
        changed('return numpy', 'return 5 && 7; numpy'),
      ],
      [
        'MODEL_FILE_INVALID',
        /shapes not aligned/,
        changed('inputLength: 784', 'inputLength: 700'),
      ],
      ['MODEL_FILE_INVALID', /"classes": /, changed('classes: 10', 'classes: -1')],
      [
        'MODEL_FILE_INVALID',
        /it has an unknown key "clases"; did you mean "classes"\?/,
        changed('classes: 10', 'clases: 10'),
      ],
      [
        'MODEL_FILE_INVALID',
        /initialize": not 'zeros'/,
        changed("'zeros'", "'zeroes'"),
      ],
      [
        'MODEL_FILE_INVALID',
        /two of its tensors have the name "hidden.weight"/,
        changed("name: 'hidden.bias'", "name: 'hidden.weight'"),
      ],
      [
        'MODEL_INVALID',
        /first values of its tensor "hidden.bias" are not finite/,
        changed("'zeros'", '(out) => out.fill(NaN)'),
      ],
      [
        'MODEL_FILE_INVALID',
        /its objective returns 0 sums, but mse takes 1/,
        changed(
          '{ losses: losses.ref, sums: [losses] }',
          '{ losses, sums: [] }',
          autoencoder,
        ),
      ],
      [
        'MODEL_FILE_INVALID',
        /its losses have the shape \[\], expected \[2\]/,
        changed('.mean(1)', '.mean()', autoencoder),
      ],
      ['MODEL_FILE_INVALID', /"metric": /, changed("'mse'", "'rmse'", autoencoder)],
      [
        'MODEL_FILE_INVALID',
        /own.ts: its tallies have the shape \[2, 5\], expected \[2, 6\]/,
        withTally(
          '(jax, [errors]) => jax.nn.oneHot(errors.astype(jax.numpy.int32), 5)',
        ),
      ],
      ['MODEL_FILE_INVALID', /own.ts: .*no tally/, withTally(NO_TALLY)],
      ['MODEL_FILE_INVALID', /"metric": /, withTally(NO_TALLY, 0)],
      [
        'MODEL_FILE_INVALID',
        /it uses no field of a batch/,
        changed("{ inputs: { type: 'f32', shape: [pixels] } }", '{}', autoencoder),
      ],
      [
        'MODEL_FILE_INVALID',
        /its objective returns 0 statistics in training, .* declares 2/,
        changed('sums: [right], statistics }', 'sums: [right] }', normalized),
      ],
      [
        'MODEL_FILE_INVALID',
        /its statistics "mean" have the shape \[\], expected \[64\]/,
        changed('units.ref.mean(0) :', 'units.ref.mean() :', normalized),
      ],
      [
        'MODEL_FILE_INVALID',
        /two of its statistics have the name "mean"/,
        changed("name: 'variance'", "name: 'mean'", normalized),
      ],
      [
        // What goes wrong in an evaluation alone.
        'MODEL_FILE_INVALID',
        /own.ts: line \d+: /,
        changed('given[0]!', 'given[7]!', normalized),
      ],
    ];
  // Each takes a process of its own.
  const some = effort({
    quick: faults.filter((_, index) => index % 3 === 0),
    soak: faults,
  });
  test.each(some)('%s: %s', async (code, message, source) => {
    await expect(inspect(source)).rejects.toMatchObject({
      code,
      kind: 'input',
      place: 'workload.model',
      message: expect.stringMatching(message) as string,
    });
  });
});

test.each([
  ['junk', "'junk\\n'.repeat(99)"],
  ['nil', 'new Uint8Array([1, 0, 0, 0, 0xc0])'],
  ['an answer that is none', 'Buffer.from([2, 0, 0, 0, 0x81, 0xc0])'],
])(
  'a model that writes %s where the answer comes is refused, and harms nobody',
  async (_, bytes) => {
    const writing = `import { writeSync } from 'node:fs';\nwriteSync(3, ${bytes});\n`;
    await expect(inspect(writing + twoLayer)).rejects.toMatchObject({
      code: 'MODEL_FILE_INVALID',
      message: expect.stringContaining('descriptor 3') as string,
    });
    expect(await inspect(twoLayer)).toMatchObject({ id: 'two-layer' });
  },
);
