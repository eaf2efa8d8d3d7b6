/** The reports of failed ranks: how long an explanation is awaited, and which report is the cause. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FailureReports } from '../../../src/agent/world/failure-reports.ts';
import type { ErrorCode } from '../../../src/shared/codes/error-code.ts';
import type { FailureReport } from '../../../src/shared/errors/root-cause.ts';

const of = (
  code: ErrorCode,
  kind: FailureReport['kind'] = 'report',
): FailureReport => ({
  kind,
  error: { code, kind: 'failure', message: code },
});

const lost = of('PEER_LOST');
const death = of('WORKER_DIED', 'death');
const own = of('INTERNAL');

let settled: number;
let reports: FailureReports;
beforeEach(() => {
  vi.useFakeTimers();
  settled = 0;
  reports = new FailureReports(() => {
    settled++;
  });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('failure reports', () => {
  it.each([
    ['an error of a rank', own],
    ['a death', death],
  ])('%s settles them at once', (_, report) => {
    reports.add(report);
    expect(settled).toBe(1);
    expect(reports.cause).toBe(report.error);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('the loss of a peer waits a second for its explanation, from the first on', () => {
    reports.add(lost);
    vi.advanceTimersByTime(600);
    reports.add(of('PEER_TIMEOUT'));
    vi.advanceTimersByTime(399);
    expect(settled).toBe(0);
    vi.advanceTimersByTime(1);
    expect(settled).toBe(1);
    expect(reports.cause).toBe(lost.error);
  });

  it('an explanation ends the wait, and a stronger one that comes later still counts', () => {
    reports.add(lost);
    reports.add(death);
    expect(settled).toBe(1);
    reports.add(own);
    expect(reports.cause).toBe(own.error);
    vi.runAllTimers();
    expect(settled).toBe(1);
  });

  it('with no rank left to report the wait ends; without reports nothing is settled', () => {
    reports.settle();
    expect([settled, reports.isEmpty, reports.cause]).toEqual([0, true, undefined]);
    reports.add(lost);
    reports.settle();
    expect([settled, vi.getTimerCount()]).toEqual([1, 0]);
  });

  it('what is added while they are settled does not settle them anew', () => {
    const nested: FailureReports = new FailureReports(() => {
      settled++;
      if (nested.areAll('PEER_TIMEOUT')) nested.add(of('WORKER_SILENT'));
    });
    nested.add(of('PEER_TIMEOUT'));
    vi.runAllTimers();
    expect(settled).toBe(1);
    expect(nested.cause?.code).toBe('WORKER_SILENT');
  });
});
