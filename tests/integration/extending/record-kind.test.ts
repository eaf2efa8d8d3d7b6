/**
 * A kind of record is added as docs/extending.md says, in a copy of the sources: one file and
 * one line. The compiler asks for nothing else, and every program knows the kind.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CopiedSources } from './copied-sources.ts';

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

const PULSE_FILE = 'src/shared/records/pulse.ts';

let copy: CopiedSources;
beforeAll(() => {
  copy = new CopiedSources();
  copy.write(PULSE_FILE, PULSE);
  const list = 'src/shared/records/record-kinds.ts';
  copy.insert(
    list,
    "import { pulseKind } from './pulse.ts';\n",
    'import { queuedKind }',
  );
  copy.insert(list, '  pulseKind,\n', '  queuedKind,\n');
});
afterAll(() => copy?.[Symbol.dispose]());

test('the compiler asks for nothing else', { tags: 'soak' }, () => {
  expect(copy.compiled()).toBe('');
});

test(
  'a definition that leaves something out does not compile',
  { tags: 'soak' },
  () => {
    for (const member of ['repetition', 'thinning', 'tables', 'folds', 'summary']) {
      const lines = new RegExp(`^ {2}${member}: (?:\\[[\\s\\S]*?^ {2}\\],|.*)\\n`, 'm');
      copy.write(PULSE_FILE, PULSE.replace(lines, ''));
      expect(copy.compiled(), member).toContain(`'${member}' is missing`);
    }
    copy.write(PULSE_FILE, PULSE);
  },
);

test('every program knows it', { tags: 'soak' }, () => {
  const answers = copy.told(
    [
      "{ RecordAdmission } from './agent/supervisor/journal/record-admission.ts'",
      "{ HumanPrinter } from './cli/text/run-printer.ts'",
      "{ foldEvents } from './renderer/state/runs/event-fold.ts'",
      "{ EXPORT_TABLES } from './shared/records/export-tables.ts'",
      "{ csvParts } from './export/formats/csv.ts'",
      "{ readTable } from './export/tables/tables.ts'",
      "{ logLine } from './shared/records/log-text.ts'",
      "{ thinningOf } from './shared/records/record-kinds.ts'",
    ],
    `const pulse = (iteration: number) => ({ type: 'pulse', at: 0, iteration, beats: 7 }) as const;
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
const told = {
  first,
  again: again ?? 'a repetition',
  thinning: thinningOf(pulse(1)),
  rows: foldEvents([pulse(1), pulse(2)]).length,
  line: logLine({ sequence: 1, record: pulse(3) })?.text,
  printed,
  tables: EXPORT_TABLES.filter(({ id }) => id === 'pulses'),
  csv,
};`,
  );
  expect(answers).toEqual({
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
