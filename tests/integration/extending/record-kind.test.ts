/**
 * A kind of record is added as docs/extending.md says, in a copy of the sources: one file and
 * one line. The compiler asks for nothing else, and every program knows the kind.
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
const PULSE = `/** The ranks' clock beats. */
import { z } from 'zod';
import { count } from './fields.ts';
import { eventKind, unchanged } from './record-kind.ts';

export const pulseKind = eventKind({
  schema: z.strictObject({
    type: z.literal('pulse'),
    at: z.number(),
    iteration: count,
    beats: count,
  }),
  repetition: { by: 'iteration' },
  thinning: 'measures',
  printed: ({ beats }) => [\`\${beats} beats\`],
  tables: [
    {
      id: 'pulses',
      title: 'Pulses',
      columns: [
        { name: 'iteration', kind: 'whole', cell: ({ iteration }) => iteration },
        { name: 'beats', kind: 'whole', cell: ({ beats }) => beats },
      ],
    },
  ],
  folds: true,
  text: ({ beats, iteration }) => ({
    tone: 'plain',
    title: 'Pulse',
    iteration,
    text: \`\${beats} beats\`,
  }),
  summary: unchanged,
});
`;

let copy: string;
beforeAll(() => {
  copy = mkdtempSync(path.join(tmpdir(), 'gradwire-record-kind-'));
  for (const name of ['src', 'package.json', 'tsconfig.json', 'tsconfig.base.json']) {
    cpSync(path.join(root, name), path.join(copy, name), { recursive: true });
  }
  symlinkSync(path.join(root, 'node_modules'), path.join(copy, 'node_modules'));
  const records = path.join(copy, 'src/shared/records');
  writeFileSync(path.join(records, 'pulse.ts'), PULSE);
  const list = path.join(records, 'record-kinds.ts');
  const before = readFileSync(list, 'utf8');
  const after = before
    .replace('import { queuedKind }', "import { pulseKind } from './pulse.ts';\n$&")
    .replace('  queuedKind,\n', '  pulseKind,\n$&');
  expect(after).not.toBe(before);
  writeFileSync(list, after);
});
afterAll(() => {
  rmSync(copy, { recursive: true, force: true });
});

const compile = (): { readonly status: number | null; readonly stdout: string } =>
  spawnSync(
    process.execPath,
    [
      path.join(root, 'node_modules/typescript/bin/tsc'),
      ...['-p', 'tsconfig.json', '--noEmit'],
    ],
    { cwd: copy, encoding: 'utf8' },
  );

test('the compiler asks for nothing else', { tags: 'soak' }, () => {
  expect(compile()).toMatchObject({ stdout: '', status: 0 });
});

test(
  'a definition that leaves something out does not compile',
  { tags: 'soak' },
  () => {
    const file = path.join(copy, 'src/shared/records/pulse.ts');
    for (const member of ['repetition', 'thinning', 'tables', 'folds', 'summary']) {
      const lines = new RegExp(`^ {2}${member}: (?:\\[[\\s\\S]*?^ {2}\\],|.*)\\n`, 'm');
      writeFileSync(file, PULSE.replace(lines, ''));
      expect(compile().stdout, member).toContain(`'${member}' is missing`);
    }
    writeFileSync(file, PULSE);
  },
);

test('every program knows it', { tags: 'soak' }, () => {
  const script = path.join(copy, 'src/try.ts');
  writeFileSync(
    script,
    `import { RecordAdmission } from './agent/supervisor/journal/record-admission.ts';
import { HumanPrinter } from './cli/text/run-printer.ts';
import { foldEvents } from './renderer/state/runs/event-fold.ts';
import { EXPORT_TABLES } from './shared/records/export-tables.ts';
import { csvParts } from './export/formats/csv.ts';
import { readTable } from './export/tables/tables.ts';
import { logLine } from './shared/records/log-text.ts';
import { thinningOf } from './shared/records/record-kinds.ts';

const pulse = (iteration: number) => ({ type: 'pulse', at: 0, iteration, beats: 7 }) as const;
const admission = new RecordAdmission();
const first = admission.admit(0, pulse(3));
admission.restart(2);
const again = admission.admit(0, pulse(3));
let printed = '';
const printer = new HumanPrinter({ columns: undefined, write: (text) => { printed += text; } });
printer.records([{ sequence: 1, record: pulse(3) }], { iterationsPlanned: 5 } as never);
const reader = {
  runLog: (_run: string, after: number) =>
    Promise.resolve(after > 0 ? [] : [{ sequence: 1, record: pulse(3) }]),
};
let csv = '';
for await (const { content } of csvParts(readTable('pulses', reader as never, {} as never))) {
  csv += content;
}
console.log(JSON.stringify({
  first,
  again: again ?? 'a repetition',
  thinning: thinningOf(pulse(1)),
  rows: foldEvents([pulse(1), pulse(2)]).length,
  line: logLine({ sequence: 1, record: pulse(3) })?.text,
  printed,
  tables: EXPORT_TABLES.filter(({ id }) => id === 'pulses'),
  csv,
}));
`,
  );
  const output = execFileSync(process.execPath, [script], { encoding: 'utf8' });
  expect(JSON.parse(output)).toEqual({
    first: { type: 'pulse', at: 0, iteration: 3, beats: 7 },
    again: 'a repetition',
    thinning: 'measures',
    rows: 1,
    line: 'Pulse: 7 beats',
    printed: '7 beats\n',
    tables: [expect.objectContaining({ id: 'pulses', title: 'Pulses' })],
    csv: 'iteration,beats\n3,7\n',
  });
});
