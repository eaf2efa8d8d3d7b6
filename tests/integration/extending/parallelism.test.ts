/**
 * A kind of parallelism is added as docs/extending.md says, in a copy of the sources: one file, one line
 * in the list and its steps. Spec, form and checks then have it.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CopiedSources } from './copied-sources.ts';

const CALM = `/** Calm training: ranks rest before each exchange. */
import { z } from 'zod';
import type { ParallelismKind } from './kind.ts';

export const calm = {
  id: 'calm',
  brief: 'rest before each exchange',
  hint: 'Ranks rest before each exchange',
  instead: 'calm ranks exchange in every iteration',
  keys: {
    restMs: z.number().min(0).optional().describe('Rest, in ms').meta({ title: 'Rest (ms)' }),
  },
  misfits: () => [],
} as const satisfies ParallelismKind;
`;
const STEPS = `  calm: (_spec, { onHost, onDevice }) => {
    return (options) => new SynchronousSteps({ ...options, gradient: onDevice ?? onHost! });
  },
`;
const STEPS_FILE = 'src/agent/worker/steps/open-steps.ts';

let copy: CopiedSources;
beforeAll(() => {
  copy = new CopiedSources();
  copy.write('src/shared/spec/parallelism/calm.ts', CALM);
  const list = 'src/shared/spec/parallelism/parallelism.ts';
  copy.insert(list, "import { calm } from './calm.ts';\n", 'import {\n  SYNTHETIC,');
  copy.insert(list, 'calm, ', 'asynchronous] as const');
});
afterAll(() => copy?.[Symbol.dispose]());

test('it is parsed, checked, corrected and in the form, with its keys', () => {
  const answers = copy.told(
    [
      "{ validateLaunch } from './agent/launch/validate-launch.ts'",
      "{ makeCatalogue } from './agent/launch/catalogue.ts'",
      "{ formSections } from './renderer/state/experiment/spec-form.ts'",
      "{ parseExperimentSpec } from './shared/spec/experiment-spec.ts'",
    ],
    `const workload = { model: 'fnn3', dataset: 'digits' };
const of = (parallelism) => validateLaunch(parseExperimentSpec({ workload, parallelism }));
const refusal = (parallelism) => {
  try {
    of(parallelism);
  } catch ({ code, message, next }) {
    return [code, message, next];
  }
};
const fields = (kind) =>
  formSections(makeCatalogue(), { workload, parallelism: { kind } })
    .find(({ title }) => title === 'Parallelism').fields;
const told = {
  launched: of({ kind: 'calm', restMs: 5 }).spec.parallelism,
  bound: refusal({ kind: 'calm', restMs: -1 })[0],
  elsewhere: refusal({ kind: 'synchronous', restMs: 5 }),
  others: refusal({ kind: 'calm', every: 3 }),
  nearest: refusal({ kind: 'clam' })[2],
  choices: fields('calm')[0].choices.map(({ value }) => value),
  keys: fields('calm').map(({ title }) => title),
  hidden: fields('synchronous').some(({ title }) => title === 'Rest (ms)'),
};`,
  );
  expect(answers).toMatchObject({
    launched: { kind: 'calm', restMs: 5 },
    bound: 'SPEC_INVALID',
    elsewhere: [
      'PARALLELISM_MISFIT',
      'ranks exchange in every iteration',
      expect.stringContaining('calm'),
    ],
    others: [
      'PARALLELISM_MISFIT',
      'calm ranks exchange in every iteration',
      expect.stringContaining('local-steps'),
    ],
    choices: expect.arrayContaining(['calm']) as string[],
    keys: expect.arrayContaining(['Rest (ms)']) as string[],
    hidden: false,
  });
});

test(
  'without its steps it does not compile, and with them nothing is missing',
  { tags: 'soak' },
  () => {
    const missing = copy.compiled();
    expect(missing).toContain("Property 'calm' is missing");
    expect(missing.match(/error TS/g)).toHaveLength(1);
    copy.insert(STEPS_FILE, STEPS, '  asynchronous: (spec, ');
    expect(copy.compiled()).toBe('');
  },
);
