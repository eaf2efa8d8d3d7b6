/** What people read of a run as it goes. */
import { expect, test } from 'vitest';
import { LogPrinter } from '../../../src/cli/text/log-printer.ts';
import { HumanPrinter } from '../../../src/cli/text/run-printer.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import type { StartedRecord } from '../../../src/shared/records/started.ts';
import type { RunSummary } from '../../../src/shared/rpc/run-summary.ts';
import { entries, iterationRecord, started } from '../main/sample-records.ts';

const summary = (...nodes: string[]): RunSummary => ({
  id: 'r',
  name: 'sample',
  state: 'running',
  createdAt: 1,
  iterations: 0,
  iterationsPlanned: 10,
  ranks: 4,
  nodes,
  deleted: false,
  model: 'fnn3',
  dataset: 'digits',
  methods: ['none'],
});

const on = (node: string, ...ranks: number[]): StartedRecord => ({
  ...(started as StartedRecord),
  ranks: 4,
  processes: ranks.map((rank) => ({ rank, node, pid: 1 })),
});

/** The lines after the first, which names the run. */
function linesOf(nodes: readonly string[], ...records: RunRecord[]): readonly string[] {
  let printed = '';
  const write = (text: string): void => {
    printed += text;
  };
  const printer = new HumanPrinter({ write, columns: undefined });
  printer.begin(summary(...nodes));
  printer.records(entries(records), summary(...nodes));
  return printed.split('\n').slice(1, -1);
}

test('a run says where its ranks are, unless all are here', () => {
  expect(linesOf(['this-computer'], on('vm', 0, 1, 2, 3))).toHaveLength(1);
  expect(linesOf(['box'], on('box', 0, 1, 2, 3)).slice(1)).toEqual([
    'ranks 0–3 on box',
  ]);
  const nodes = ['this-computer', 'box'];
  expect(linesOf(nodes, on('vm', 0, 1), on('box', 2, 3)).slice(1)).toEqual([
    'ranks 0–1 on this computer',
    'ranks 2–3 on box',
  ]);
});

test('the lines of a program are printed, and of a model of ours what warns', () => {
  const line = { type: 'log', at: 1, rank: 1, stream: 'stdout' } as const;
  const records: RunRecord[] = [
    { ...line, text: 'step 12 loss 1.5' },
    { ...line, stream: 'stderr', level: 'warning', text: 'Warning: slow' },
  ];
  const printedOf = (model: string): readonly string[] => {
    let printed = '';
    const write = (text: string): void => {
      printed += text;
    };
    const printer = new HumanPrinter({ write, columns: undefined });
    const of = { ...summary('this-computer'), model };
    printer.begin(of);
    printer.records(entries(records), of);
    return printed.split('\n').slice(1, -1);
  };
  expect(printedOf('program')).toEqual([
    'rank 1: step 12 loss 1.5',
    'rank 1: Warning: slow',
  ]);
  expect(printedOf('fnn3')).toEqual(['rank 1 printed: Warning: slow']);
});

test('its log does, too', () => {
  const textOf = (nodes: readonly string[], record: RunRecord): string => {
    let printed = '';
    const write = (text: string): void => {
      printed += text;
    };
    const printer = new LogPrinter({ write }, {}, false);
    printer.records(entries([record]), { nodes });
    return printed;
  };
  expect(textOf(['box'], on('box', 0, 1, 2, 3))).toContain(
    'Started: 4 ranks at box on',
  );
  expect(textOf(['this-computer'], on('vm', 0, 1, 2, 3))).toContain(
    'Started: 4 ranks on',
  );
  expect(textOf(['this-computer', 'box'], on('vm', 0, 1))).toContain(
    'Started: ranks 0, 1 of 4 at this computer on',
  );
});

test.each([
  [0, 'rank 2 on box starts again from the beginning'],
  [20, 'rank 2 on box resumes from a checkpoint'],
])('a restart at iteration %i says from where', (iteration, text) => {
  const { processes } = on('box', 2);
  const record = {
    type: 'restarted',
    at: 1,
    node: 'box',
    iteration,
    processes,
  } as const;
  expect(linesOf(['a', 'box'], record)).toEqual([`── iteration ${iteration}: ${text}`]);
});

test('another address than the first is reported', () => {
  const message = 'rank 0 on a is reached at 10.0.0.2 because …';
  const code = 'PEER_ADDRESS';
  const notice = { type: 'notice', at: 1, level: 'info', code, message } as const;
  expect(linesOf(['a', 'b'], notice)).toEqual([message]);
});

test('a job that will never start is told, with what to do', () => {
  const queued = { type: 'queued', at: 1, node: 'hpc', job: '17' } as const;
  expect(linesOf(['hpc'], { ...queued, reason: 'Priority' })).toHaveLength(1);
  expect(linesOf(['hpc'], { ...queued, reason: 'PartitionTimeLimit' })).toEqual([
    'queued (job 17, PartitionTimeLimit)',
    'job 17 will never start: its time limit exceeds the partition’s (PartitionTimeLimit). ' +
      'Stop the run, and change what its jobs ask for: gradwire nodes edit hpc --time LIMIT.',
  ]);
});

test('a live line makes way for what others write to the terminal', () => {
  let printed = '';
  const write = (text: string): void => {
    printed += text;
  };
  const printer = new HumanPrinter({ write, columns: 80 });
  printer.begin(summary('a'));
  printer.records(entries([iterationRecord(0, 0)]), summary('a'));
  const live = printed.length;
  printer.makeWay();
  expect(printed.slice(live)).toBe('\r\u001b[2K');
  printer.makeWay();
  expect(printed.slice(live)).toBe('\r\u001b[2K');
});
