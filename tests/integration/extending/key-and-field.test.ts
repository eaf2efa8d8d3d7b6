/**
 * A key of the spec and a field of an iteration's record are added as docs/extending.md says, in a
 * copy of the sources: one definition each. Checks, form, exports and charts then have them.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CopiedSources } from './copied-sources.ts';

const KEY = `  joulesAtMost: z
    .number()
    .positive()
    .optional()
    .describe('Energy after which the run is stopped')
    .meta({
      title: 'Energy',
      section: 'Length',
      excludes: [
        {
          key: 'overlap',
          code: 'OVERLAP_MISFIT',
          because: 'energy is measured between exchanges',
          next: 'Remove one of them.',
        },
      ],
      needs: [
        {
          key: 'inspectEvery',
          code: 'OVERLAP_MISFIT',
          because: 'energy is measured with the buckets',
          next: 'Set inspectEvery.',
        },
      ],
    }),
`;
/** A key in a section that has other keys in the middle of it, and that some choices hide. */
const INNER_KEY = `  shuffle: z.boolean().optional().describe('Shuffle').meta({ title: 'Shuffle' }),
`;
const FIELD = `  /** Energy of the rank in this iteration. */
  energyUsed: {
    schema: time.optional(),
    unit: 'number',
    place: 4,
    chart: 'band',
  },
`;
/** Another one, which came before it and stands in the record behind it. */
const FIELD_BEFORE = `  /** Time in which the rank was suspended. */
  suspended: {
    schema: time.optional(),
    unit: 'ms',
    phase: 'none',
    place: 3,
  },
`;

let copy: CopiedSources;
beforeAll(() => {
  copy = new CopiedSources();
  copy.insert('src/shared/spec/experiment-spec.ts', KEY, '  seed: z\n');
  copy.insert('src/shared/spec/workload-spec.ts', INNER_KEY, '  batchPerRank: z\n');
  const fields = 'src/shared/records/iteration.ts';
  copy.insert(fields, FIELD, '  /** The trainer thread that ');
  copy.insert(fields, FIELD_BEFORE, '  /** Absent if nothing is trained. ');
});
afterAll(() => copy?.[Symbol.dispose]());

test('the compiler asks for nothing else', { tags: 'soak' }, () => {
  expect(copy.compiled()).toBe('');
});

test('the key is parsed, checked, corrected and in the form', () => {
  const answers = copy.told(
    [
      "{ validateLaunch } from './agent/launch/validate-launch.ts'",
      "{ makeCatalogue } from './agent/launch/catalogue.ts'",
      "{ formSections } from './renderer/state/experiment/spec-form.ts'",
      "{ parseExperimentSpec } from './shared/spec/experiment-spec.ts'",
    ],
    `const of = (keys) =>
  validateLaunch(parseExperimentSpec({ workload: { model: 'fnn3', dataset: 'digits' }, ...keys }));
const refusal = (keys) => {
  try {
    of(keys);
  } catch ({ code, message, next }) {
    return [code, message, next];
  }
};
const sections = formSections(makeCatalogue(), { workload: { model: 'fnn3' } });
const fieldIn = (section, key) =>
  sections.find(({ title }) => title === section).fields.find(({ path }) => path === key);
const told = {
  launched: of({ joulesAtMost: 5, inspectEvery: 1 }).spec.joulesAtMost,
  bound: refusal({ joulesAtMost: 0 })[0],
  excluded: refusal({ joulesAtMost: 5, overlap: true }),
  needed: refusal({ joulesAtMost: 5 }),
  nearest: refusal({ joulsAtMost: 5 })[2],
  field: fieldIn('Length', 'joulesAtMost'),
  inner: fieldIn('Workload', 'workload.shuffle').title,
};`,
  );
  expect(answers).toEqual({
    launched: 5,
    bound: 'SPEC_INVALID',
    excluded: [
      'OVERLAP_MISFIT',
      'energy is measured between exchanges',
      'Remove one of them.',
    ],
    needed: [
      'OVERLAP_MISFIT',
      'energy is measured with the buckets',
      'Set inspectEvery.',
    ],
    nearest: 'Did you mean "joulesAtMost"?',
    field: {
      path: 'joulesAtMost',
      kind: 'number',
      title: 'Energy',
      description: 'Energy after which the run is stopped; not with overlap',
    },
    inner: 'Shuffle',
  });
});

test('the field is checked, exported and charted', () => {
  const answers = copy.told(
    [
      "{ iterationColumns } from './export/tables/iteration-columns.ts'",
      "{ BANDED_FIELDS, COLUMN, FIELD_COUNT, writeRow } from './shared/records/chart-fields.ts'",
      "{ ITERATION_FIELDS } from './shared/records/iteration.ts'",
    ],
    `const record = { phases: {}, bytes: {}, energyUsed: 2.5, suspended: 7 };
const row = new Float64Array(FIELD_COUNT);
writeRow(record, row);
const columns = iterationColumns({ ranks: 2 });
const { schema } = ITERATION_FIELDS.flatMap(({ fields }) => Object.entries(fields))
  .find(([name]) => name === 'energyUsed')[1];
const told = {
  refused: !schema.safeParse(-1).success,
  last: columns.slice(-3).map(({ name, cell }) => [name, cell({ record })]),
  charted: row[COLUMN.energyUsed],
  hasExtremes: BANDED_FIELDS.includes('energyUsed'),
};`,
  );
  expect(answers).toEqual({
    refused: true,
    last: [
      ['emulated', null],
      ['suspended_ms', 7],
      ['energy_used', 2.5],
    ],
    charted: 2.5,
    hasExtremes: true,
  });
});
