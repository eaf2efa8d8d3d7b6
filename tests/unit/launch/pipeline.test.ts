/** Which splits of models a launch takes. */
import { describe, expect, test } from 'vitest';
import { checkedLaunch } from '../../harness/checked-launch.ts';
import type { ModelFacts } from '../../../src/agent/training/model-facts.ts';
import { applySettings } from '../../../src/main/spec/settings.ts';
import { GradwireError } from '../../../src/shared/errors/errors.ts';

const SPEC = {
  workload: { model: 'fnn3', dataset: 'digits', batchPerRank: 16 },
  world: { ranks: 2 },
};
const split = (...layers: readonly string[]): string =>
  `parallelism.pipeline.splitAfter=${JSON.stringify(layers)}`;
const MICRO = 'parallelism.pipeline.microBatches';

/** As the command prints it. @param own the model, where it comes from a file */
function refusalOf(
  settings: readonly string[],
  changes: readonly object[] = [],
  own?: ModelFacts,
): string {
  try {
    const requests = changes.map((change) => ({ at: 3, change: { ...change } }));
    checkedLaunch(applySettings(SPEC, settings), requests, { model: own });
    return 'taken';
  } catch (error) {
    if (!(error instanceof GradwireError)) throw error;
    const { code, message, next, place } = error.toData();
    return `${code}: ${message} (${place}). ${next}`;
  }
}

describe('refused is a split', () => {
  test.each<[string, readonly string[], RegExp]>([
    ['a layer that is not there', [split('layer9')], /SPLIT_UNKNOWN.*"layer9".*layer1/],
    [
      'behind the last',
      [split('layer3')],
      /PIPELINE_MISFIT: there is no layer after "layer3"/,
    ],
    [
      'more stages than layers',
      ['world.ranks=4', split('layer1', 'layer2', 'layer3')],
      /fnn3 has 3 layers, too few for 4 stages/,
    ],
    ['twice', ['world.ranks=3', split('layer1', 'layer1')], /"layer1" is listed twice/],
    [
      'the wrong way round',
      ['world.ranks=3', split('layer2', 'layer1')],
      /not in the model’s order/,
    ],
    [
      'into a world that it does not fit',
      ['world.ranks=3', split('layer1')],
      /3 ranks cannot be divided into pipelines of 2/,
    ],
    [
      'into parts that are not equal',
      [split('layer1'), `${MICRO}=3`],
      /batch of 16 cannot be split into 3/,
    ],
    [
      'a model whose layers have no names',
      ['workload.model=resnet-20', 'workload.dataset=shapes', split('x')],
      /resnet-20 cannot be split.*fnn3/,
    ],
    [
      'beside an exchange',
      [split('layer1'), 'overlap=true'],
      /PIPELINE_MISFIT.*\(overlap\)/,
    ],
    [
      'of which some are ahead',
      [split('layer1'), 'parallelism.kind=asynchronous'],
      /PIPELINE_MISFIT.*parallelism\.kind/,
    ],
    [
      'with a norm of all',
      [split('layer1'), 'optimizer.clipNorm=1'],
      /optimizer\.clipNorm/,
    ],
    [
      'with full gradients',
      [split('layer1'), 'optimizer.fullGradientEvery=5'],
      /fullGradientEvery/,
    ],
    [
      'and no activations without stages',
      ['exchange.activations.method=dct-mp'],
      /ACTIVATIONS_MISFIT.*exchange\.activations/,
    ],
    [
      'nor with a share of all',
      [split('layer1'), 'exchange.activations.sparsity=1'],
      /EXCHANGE_INVALID|SPEC_INVALID/,
    ],
    [
      'of which more ranks are servers than there are pipelines',
      [
        ...['world.ranks=4', split('layer1')],
        'exchange={collective: parameter-server, servers: 3}',
      ],
      /SERVERS_INVALID/,
    ],
  ])('%s', (_, settings, message) => {
    expect(refusalOf(settings)).toMatch(message);
  });
});

test('no activations are switched on or off where none are sent', () => {
  const change = { activations: { method: 'dct-mp' } };
  expect(refusalOf([split('layer1')], [change])).toBe('taken');
  expect(refusalOf([split('layer1')], [{ activations: null }])).toBe('taken');
  for (const one of [change, { activations: null }]) {
    expect(refusalOf([], [one])).toMatch(/^ACTIVATIONS_MISFIT.*\(switch\)/);
  }
});

test.each(['layer1', 'layer2'])('taken is a split after %s', (layer) => {
  expect(refusalOf([split(layer), `${MICRO}=16`])).toBe('taken');
});

describe('a model of the user', () => {
  const OWN = ['workload.model=./own.ts', 'workload.modelSource=export default 5'];
  /** As the inspector tells. */
  const factsOf = (layers: Readonly<Record<string, readonly string[]>>): ModelFacts => {
    const names = [...new Set(Object.values(layers).flat())];
    return {
      id: 'own',
      inputs: { inputs: { type: 'f32', shape: [784] } },
      tensors: names.map((name) => ({ name, shape: [4] })),
      layers: Object.entries(layers).map(([name, tensors]) => ({ name, tensors })),
    };
  };
  const tied = factsOf({
    embedding: ['embedding'],
    mixed: ['mixed'],
    scores: ['embedding'],
    biases: ['bias', 'embedding'],
  });
  const refusal = (facts: ModelFacts, ...layers: readonly string[]): string =>
    refusalOf(
      [...OWN, `world.ranks=${layers.length + 1}`, split(...layers)],
      [],
      facts,
    );

  test.each([
    { layers: ['embedding'] },
    { layers: ['mixed'] },
    { layers: ['scores'] },
    { layers: ['embedding', 'mixed'] },
  ])('is split after $layers', ({ layers }) => {
    expect(refusal(tied, ...layers)).toBe('taken');
  });

  test.each<readonly [string, ModelFacts, readonly string[], RegExp]>([
    [
      'after a layer that it does not have',
      tied,
      ['mixt'],
      /^SPLIT_UNKNOWN: own\.ts has no layer "mixt" .*Did you mean "mixed"\? Its layers: embedding, mixed, scores, biases\.$/,
    ],
    [
      'after the last',
      tied,
      ['biases'],
      /no layer after "biases".*: embedding, mixed, scores\.$/,
    ],
    [
      'into more stages than layers',
      factsOf({ one: ['a'], two: ['b'] }),
      ['one', 'two'],
      /own\.ts has 2 layers, too few for 3 stages/,
    ],
    [
      'with a stage that owns nothing',
      tied,
      ['mixed', 'scores'],
      /^PIPELINE_MISFIT: the stage that starts with "scores" has nothing to train: .*\. Do not split after "mixed"\.$/,
    ],
    [
      'with one layer',
      factsOf({ one: ['a'] }),
      ['one'],
      /^PIPELINE_MISFIT: own\.ts has only one layer and cannot be split/,
    ],
    [
      'as one function',
      { ...tied, layers: undefined },
      ['one'],
      /^PIPELINE_MISFIT: own\.ts cannot be split: its layers have no names .*Write it as layers; see docs\/models\.md\.$/,
    ],
  ])('is not split %s', (_, facts, layers, message) => {
    expect(refusal(facts, ...layers)).toMatch(message);
  });
});
