/** Traces in the page: one that is being made is not lost, and the last choice is shown. */
import { afterEach, expect, test, vi } from 'vitest';
import { cutText } from '../../../src/renderer/charts/timeline/timeline-text.ts';
import { RunTrace } from '../../../src/renderer/state/runs/run-trace.svelte.ts';
import type { ErrorData } from '../../../src/shared/errors/errors.ts';
import type { JournalEntry } from '../../../src/shared/records/journal-entry.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import type { TraceRecord } from '../../../src/shared/records/trace.ts';
import type { TracedStretch, TracePiece } from '../../../src/shared/rpc/run-pieces.ts';
import { ScriptedHost, settle } from './scripted-host.ts';

afterEach(() => void vi.useRealTimers());

const LOST: ErrorData = { code: 'CONNECTION_LOST', kind: 'failure', message: 'lost' };
const BUSY: ErrorData = { code: 'DATABASE_BUSY', kind: 'failure', message: 'busy' };

/** An interruption that the run has gone on after. */
const INTERRUPTED = { type: 'interrupted' } as RunRecord;

const stretch = (from: number, records = 4): TracedStretch => ({
  from,
  to: from + 2,
  records,
});
const pieceOf = ({ from }: TracedStretch): TracePiece => ({
  records: [{ type: 'trace', iteration: from } as TraceRecord],
});
const [first, second, fresh] = [stretch(0), stretch(10), stretch(20)];

/** A live run with these traces, of which the last one is shown. */
async function traced(...stretches: readonly TracedStretch[]) {
  const host = new ScriptedHost();
  const trace = new RunTrace(host.connection, 'run');
  const list = (...all: readonly TracedStretch[]): Promise<void> =>
    host.next('tracedIterations').answer(all);
  const read = (of: TracedStretch): Promise<void> =>
    host.next('trace').answer(pieceOf(of));
  await list(...stretches);
  await read(stretches.at(-1)!);
  let sequence = 0;
  return {
    host,
    list,
    read,
    trace,
    /** Orders a trace of four records, when there are these. */
    order: async (...before: readonly TracedStretch[]): Promise<void> => {
      void trace.trace(2, 2);
      await list(...(before.length === 0 ? stretches : before));
      await host.next('run').answer({ events: [INTERRUPTED] });
      await host.next('order').answer(undefined);
    },
    push: async (count: number, type: RunRecord['type'] = 'trace'): Promise<void> => {
      const record = { type } as RunRecord;
      const entries = Array.from({ length: count }, (): JournalEntry => ({
        sequence: ++sequence,
        record,
      }));
      host.tell('records', 'run', entries);
      await settle();
    },
  };
}

test('a new trace is awaited and shown though an earlier one is looked at meanwhile', async () => {
  const { list, order, push, read, trace } = await traced(first, second);
  await order();
  void trace.show(first);
  await push(1);
  expect(trace.progress).toEqual({ kind: 'tracing', come: 1, expected: 4 });
  await settle();
  await read(first);
  expect(trace.shown).toEqual(first);
  expect(trace.progress).toEqual({ kind: 'tracing', come: 1, expected: 4 });
  await push(3);
  await list(first, second, fresh);
  await read(fresh);
  expect(trace.shown).toEqual(fresh);
  expect(trace.progress).toEqual({ kind: 'idle' });
  trace.close();
});

test('of two stretches the one that was chosen last is shown, whichever comes first', async () => {
  const { host, read, trace } = await traced(first, second);
  void trace.show(first);
  await settle();
  void trace.show(second);
  await settle();
  await host.waiting('trace')[1]!.answer(pieceOf(second));
  expect(trace.progress.kind).toBe('idle');
  await read(first);
  expect(trace.shown).toEqual(second);
  expect(trace.records).toEqual(pieceOf(second).records);
  trace.close();
});

test('a failure of a choice that holds no longer is not told', async () => {
  const { host, read, trace } = await traced(first, second);
  void trace.show(first);
  await settle();
  void trace.show(second);
  await settle();
  await host.next('trace').fail(BUSY);
  expect(trace.progress.kind).toBe('reading');
  await read(second);
  expect(trace.progress.kind).toBe('idle');
  trace.close();
});

test('the newest trace does not replace one that was chosen while traces were listed', async () => {
  const { host, list, order, push, read, trace } = await traced(first, second);
  await order();
  await push(4);
  void trace.show(first);
  await list(first, second, fresh);
  await read(first);
  expect(host.waiting('trace')).toEqual([]);
  expect(trace.shown).toEqual(first);
  expect(trace.stretches).toEqual([first, second, fresh]);
  trace.close();
});

test('a new trace is awaited through a lost connection', async () => {
  const { host, list, order, push, read, trace } = await traced(first);
  await order();
  await push(1);
  host.tell('resync');
  await host.next('tracedIterations').fail(LOST);
  await host.next('run').fail(LOST);
  host.tell('resync');
  await list(first, stretch(20, 3));
  await host.next('run').answer({ events: [INTERRUPTED] });
  expect(trace.progress).toEqual({ kind: 'tracing', come: 3, expected: 4 });
  // The store counts: this one may be among those that it had.
  await push(1);
  await list(first, stretch(20, 3));
  expect(trace.progress).toEqual({ kind: 'tracing', come: 3, expected: 4 });
  await push(1);
  await list(first, fresh);
  await list(first, fresh);
  await read(fresh);
  expect(trace.shown).toEqual(fresh);
  expect(trace.progress).toEqual({ kind: 'idle' });
  trace.close();
});

test('no trace is awaited of a run that ended while the connection was lost', async () => {
  const { host, list, order, read, trace } = await traced(first);
  const part = stretch(20, 3);
  await order();
  host.tell('resync');
  await list(first, part);
  await host.next('run').answer({ endedAt: 1, events: [] });
  await list(first, part);
  await read(part);
  expect(trace.shown).toEqual(part);
  expect(trace.progress).toEqual({ kind: 'idle' });
  expect(trace.cut).toEqual({ why: 'ended', come: 3, expected: 4 });
  trace.close();
});

test('traces that others have ordered since the last look are not taken for a new one', async () => {
  const { list, order, push, read, trace } = await traced(first);
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  // Another page or command has traced meanwhile: as many records as are awaited now.
  await order(first, second);
  vi.advanceTimersByTime(1000);
  await list(first, second);
  expect(trace.progress).toEqual({ kind: 'tracing', come: 0, expected: 4 });
  await push(4);
  await list(first, second, fresh);
  await read(fresh);
  expect(trace.shown).toEqual(fresh);
  expect(trace.cut).toBeUndefined();
  trace.close();
});

test('a run that loses its ranks ends the trace: what came is shown, and that it is not all', async () => {
  const { host, list, order, push, read, trace } = await traced(first);
  const part = stretch(20, 3);
  await order();
  await push(3);
  await push(1, 'interrupted');
  await list(first, part);
  await read(part);
  expect(trace.shown).toEqual(part);
  expect(trace.progress).toEqual({ kind: 'idle' });
  expect(trace.cut).toEqual({ why: 'interrupted', come: 3, expected: 4 });
  expect(cutText(trace.cut!)).toMatch(
    /interrupted .* 3 of 4 records came\. Trace again/,
  );
  // Another one is of the ranks that have resumed.
  await order(first, part);
  expect(trace.cut).toBeUndefined();
  await push(2, 'restarted');
  expect(trace.progress.kind).toBe('tracing');
  // It was interrupted again, while the connection was lost: nothing of this one came.
  host.tell('resync');
  await list(first, part);
  await host.next('run').answer({ events: [INTERRUPTED, INTERRUPTED] });
  await list(first, part);
  expect(trace.cut).toEqual({ why: 'interrupted', come: 0, expected: 4 });
  expect(trace.shown).toEqual(part);
  expect(host.waiting('trace')).toEqual([]);
  trace.close();
});

test('a file has the whole of a stretch of which the timeline has the begin', async () => {
  const long = { from: 0, to: 130, records: 130 };
  const { host, trace } = await traced(long);
  expect(trace.records).toHaveLength(1);
  const whole = trace.whole();
  const { args } = host.next('trace');
  expect(args[1]).toEqual({ from: 0, to: 130 });
  const next = { from: 90, fromRank: 1 };
  await host.next('trace').answer({ ...pieceOf(first), next });
  expect(host.next('trace').args[1]).toEqual({ ...next, to: 130 });
  await host.next('trace').answer(pieceOf(stretch(90)));
  expect((await whole).map(({ iteration }) => iteration)).toEqual([0, 90]);
  expect(trace.records).toHaveLength(1);
  trace.close();
});

test('a new trace whose records another process stores is counted, and shown', async () => {
  const { host, list, order, push, read, trace } = await traced(first);
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  await order();
  await push(1);
  vi.advanceTimersByTime(1000);
  await list(first, stretch(20, 3));
  expect(trace.progress).toEqual({ kind: 'tracing', come: 3, expected: 4 });
  // This one may be among those that were counted.
  await push(1);
  expect(trace.progress).toEqual({ kind: 'tracing', come: 3, expected: 4 });
  vi.advanceTimersByTime(1000);
  await list(first, fresh);
  await list(first, fresh);
  await read(fresh);
  expect(trace.shown).toEqual(fresh);
  expect(trace.progress).toEqual({ kind: 'idle' });
  // Nothing is counted any more.
  vi.advanceTimersByTime(5000);
  expect(host.waiting('tracedIterations')).toEqual([]);
  trace.close();
});
