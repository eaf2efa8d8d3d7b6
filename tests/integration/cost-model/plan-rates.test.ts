/** `gradwire plan --rates` as a command: its table, its spec's text, and a run of that. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { CommandHost } from '../../harness/command-host.ts';
import { GradwireHome, succeeded } from '../../harness/gradwire.ts';

let home: GradwireHome;
let commands: CommandHost;
let directory: string;

beforeAll(async () => {
  home = new GradwireHome();
  commands = new CommandHost(home);
  directory = await mkdtemp(path.join(tmpdir(), 'gradwire-rates-'));
});

afterAll(async () => {
  await commands[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

const rates = (spec: string, ...settings: readonly string[]) =>
  commands.run([
    ...['plan', spec, '--rates', 'scalecom'],
    ...settings.flatMap((setting) => ['--set', setting]),
  ]);

/** What is to be pasted into a spec. */
const pasted = (stdout: string): Record<string, unknown> =>
  (parse(stdout.slice(stdout.indexOf('\nexchange:'))) as Record<string, never>)[
    'exchange'
  ]!;

describe('gradwire plan --rates scalecom', () => {
  test('says for each tensor what it computes and how much of it to send', async () => {
    const { stdout } = succeeded(await rates('shapes-resnet'));
    expect(stdout).toMatch(/^stem\.weight +1\.73 kB +442,368 +1024 +1 of 25 +0\.04$/m);
    expect(stdout).toMatch(
      /^stage3\.block3\.second\.weight +147 kB +2,359,296 +64 +1 of 400 +0\.0025$/m,
    );
    expect(stdout).toMatch(/^stem\.scale +64 B +0 +0 +all$/m);
    expect(stdout).toMatch(/^all tensors +1\.08 MB +40,551,040 +150\.3 +1 of 60\.04 /m);
    expect(pasted(stdout)).toEqual({
      method: 'scalecom',
      ratio: 0.0025,
      layers: [
        { match: 'stem.weight', ratio: 0.04 },
        { match: '*.scale', method: 'none' },
        { match: '*.shift', method: 'none' },
        { match: 'stage1.*', ratio: 0.04 },
        { match: 'stage2.*', ratio: 0.04 },
        { match: 'dense.bias', method: 'none' },
      ],
    });
  });

  test('gives a spec that trains so, and the same as JSON', async () => {
    const asText = succeeded(await rates('quickstart')).stdout;
    const asJson = succeeded(
      await commands.run(['plan', 'quickstart', '--rates', 'scalecom', '--json']),
    );
    const lines = asJson.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.filter(({ type }) => type === 'layer')).toHaveLength(6);
    const { exchange, overall } = lines.at(-1)!;
    expect(exchange).toEqual(pasted(asText));
    // 198,800 weights by 400, and 410 biases.
    expect(overall).toBeCloseTo(199_210 / (198_800 / 400 + 410), 9);
    const file = path.join(directory, 'pasted.yaml');
    await writeFile(
      file,
      'name: pasted\nworkload: { model: fnn3, dataset: digits, batchPerRank: 32 }\n' +
        `world: { ranks: 2 }\niterations: 3\n${asText.slice(asText.indexOf('\nexchange:'))}`,
    );
    const run = home.start(['run', file, '--json']);
    const { plan } = await run.record('started');
    expect(plan).toMatchObject({
      method: 'scalecom',
      parameters: { ratio: 0.0025 },
      layers: [{ match: '*.bias', method: 'none' }],
    });
    succeeded(await run.finished);
  });

  test('keeps what a spec of the method says, and sends more of larger batches', async () => {
    const { stdout } = succeeded(
      await rates(
        'quickstart',
        ...['exchange.method=scalecom', 'exchange.beta=1', 'exchange.ratio=0.1'],
        ...["exchange.layers=[{match: 'layer1*', ratio: 0.5}]"],
        'workload.batchPerRank=128',
      ),
    );
    expect(pasted(stdout)).toMatchObject({
      method: 'scalecom',
      beta: 1,
      ratio: 0.01,
      layers: [{ match: '*.bias', method: 'none' }],
    });
  });

  test('counts a model from a file in a process of its own', async () => {
    const file = path.join(directory, 'convolution.mjs');
    await writeFile(
      file,
      `export default {
        id: 'convolution', title: 'Convolution', summary: '',
        inputLength: 784, classes: 10,
        tensors: [
          { name: 'kernels', shape: [10, 1, 5, 5], initialize: 'ones' },
          { name: 'null', shape: [10, 10], initialize: 'ones' },
        ],
        logits({ lax, numpy }, [kernels, last], inputs) {
          const images = inputs.reshape([-1, 1, 28, 28]);
          const values = lax.convGeneralDilated(images, kernels, [2, 2], 'VALID');
          return numpy.matmul(values.mean([2, 3]), last);
        },
      };`,
    );
    const { stdout } = succeeded(await rates('quickstart', `workload.model=${file}`));
    // 12 × 12 pixels.
    expect(stdout).toMatch(/^kernels +1\.00 kB +36,000 +144 +1 of 50 +0\.02$/m);
    expect(pasted(stdout)).toEqual({
      method: 'scalecom',
      ratio: 0.02,
      layers: [{ match: 'null', ratio: 0.0025 }],
    });
  });

  test.each<[string, string[], string, RegExp]>([
    ['synthetic-vgg', [], 'RATES_UNCOUNTED', /synthetic-gradient has no layers/],
    ['sparse-logistic', [], 'RATES_UNCOUNTED', /samples of any length \("features"\)/],
    ['digits-asynchronous', [], 'METHOD_NEEDS_PEERS', /exchange\.method/],
    ['quickstart', ['workload.model=fnn'], 'MODEL_UNKNOWN', /fnn3/],
  ])('refuses %s %j', async (spec, settings, code, text) => {
    const refused = await rates(spec, ...settings);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toMatch(new RegExp(`^gradwire: ${code}: [^\\n]*\\n$`));
    expect(refused.stderr).toMatch(text);
  });

  test.each([
    [['--rates', 'topk'], /RATES_UNKNOWN: .*choices are scalecom/],
    [['--rates', 'scalcom'], /METHOD_UNKNOWN: .*Did you mean "scalecom"/],
    [['--rates', 'scalecom', '--ranks', '4'], /cannot be used with.*--ranks/],
    [['--rates', 'scalecom', '--all'], /cannot be used with.*--all/],
  ])('does not take %j', async (args, text) => {
    const refused = await commands.run(['plan', 'quickstart', ...args]);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toMatch(text);
  });
});
