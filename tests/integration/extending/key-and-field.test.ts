/**
 * A key of the spec and a field of an iteration's record are added as docs/extending.md says, in a
 * copy of the sources: one definition each. Checks, form, exports and charts then have them.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = path.join(import.meta.dirname, '../../..');

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

let copy: string;

/** Writes a definition before a line of a file. */
function define(file: string, before: string, definition: string): void {
  const place = path.join(copy, file);
  const text = readFileSync(place, 'utf8');
  expect(text.split(before)).toHaveLength(2);
  writeFileSync(
    place,
    text.replace(before, () => definition + before),
  );
}

beforeAll(() => {
  copy = mkdtempSync(path.join(tmpdir(), 'gradwire-key-and-field-'));
  for (const name of ['src', 'package.json', 'tsconfig.json', 'tsconfig.base.json']) {
    cpSync(path.join(root, name), path.join(copy, name), { recursive: true });
  }
  symlinkSync(path.join(root, 'node_modules'), path.join(copy, 'node_modules'));
  define('src/shared/spec/experiment-spec.ts', '  seed: z\n', KEY);
  define('src/shared/spec/workload-spec.ts', '    batchPerRank: z\n', INNER_KEY);
  define('src/shared/records/iteration.ts', '  /** The trainer thread that ', FIELD);
  define(
    'src/shared/records/iteration.ts',
    '  /** Absent if nothing is trained. ',
    FIELD_BEFORE,
  );
});
afterAll(() => {
  rmSync(copy, { recursive: true, force: true });
});

test('the compiler asks for nothing else', { tags: 'soak' }, () => {
  const compiler = path.join(root, 'node_modules/typescript/bin/tsc');
  const { status, stdout } = spawnSync(
    process.execPath,
    [compiler, '-p', 'tsconfig.json', '--noEmit'],
    { cwd: copy, encoding: 'utf8' },
  );
  expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
});

/** Runs statements in the copy; what they assign to `told` is returned. */
function told(imports: readonly string[], statements: string): unknown {
  const script = path.join(copy, 'src/try.ts');
  const lines = imports.map((line) => `import ${line}';`);
  writeFileSync(
    script,
    `${lines.join('\n')}\n${statements}\nconsole.log(JSON.stringify(told));\n`,
  );
  return JSON.parse(execFileSync(process.execPath, [script], { encoding: 'utf8' }));
}

test('the key is parsed, checked, corrected and in the form', () => {
  const answers = told(
    [
      "{ validateLaunch } from './agent/launch/validate-launch.ts",
      "{ makeCatalogue } from './agent/launch/catalogue.ts",
      "{ formSections } from './renderer/state/experiment/spec-form.ts",
      "{ parseExperimentSpec } from './shared/spec/experiment-spec.ts",
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
  const answers = told(
    [
      "{ iterationColumns } from './export/tables/iteration-columns.ts",
      "{ BANDED_FIELDS, COLUMN, FIELD_COUNT, writeRow } from './shared/records/chart-fields.ts",
      "{ ITERATION_FIELDS } from './shared/records/iteration.ts",
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
