/** Changes that events make in their run's summary: state, methods used, last metric, alerts, end. */
import type Database from 'better-sqlite3';
import { nodesOf, type ExperimentSpec } from '../../shared/spec/experiment-spec.ts';
import { LOCAL_NODE } from '../../shared/machines/node-entry.ts';
import {
  eventKindOf,
  type RunEvent,
  type RunRecord,
} from '../../shared/records/record-kinds.ts';
import { alertsAfter, type RunAlert } from '../../shared/records/run-alert.ts';
import { endedAt } from './ended-at.ts';
import type { RunRow } from './run-row.ts';
import type { Statements } from './statements.ts';

export interface EventTables {
  readonly statements: Statements;
  readonly changes: ReturnType<typeof prepareChanges>;
}

export const prepareChanges = (database: Database.Database) => ({
  setMetric: database.prepare<[number, number]>(
    'UPDATE runs SET metric = ? WHERE number = ?',
  ),
  setAlerts: database.prepare<[string, number]>(
    'UPDATE runs SET alerts = ? WHERE number = ?',
  ),
  setMethods: database.prepare<[string, number]>(
    'UPDATE runs SET methods = ? WHERE number = ?',
  ),
  /** A machine whose journal comes after the run's end does not begin it again. */
  setRunning: database.prepare<[string | null, number]>(`
    UPDATE runs SET state = 'running', launcher = NULL, metric_kind = ?
    WHERE number = ? AND NOT EXISTS (SELECT 1 FROM events
      WHERE events.run = runs.number AND record ->> '$.type' IN ('done', 'failed'))`),
  endRun: database.prepare<[string, number, number | null, string | null, number]>(`
    UPDATE runs SET state = ?, ended_at = ?, metric = coalesce(?, metric),
      error = ?, launcher = NULL
    WHERE number = ?`),
  firstEventAt: database.prepare<[number], { at: number }>(`
    SELECT record ->> '$.at' AS at FROM events WHERE run = ? ORDER BY sequence LIMIT 1`),
});

/** Applies what an event changes in its run's summary. */
export function applyEvent(tables: EventTables, run: RunRow, event: RunEvent): void {
  const { changes: sql } = tables;
  const change = eventKindOf(event).summary(event);
  if (change === undefined) return;
  const { alert, end, method, metric, running } = change;
  if (alert !== undefined) addAlert(tables, run, alert);
  if (running !== undefined) {
    const { metricKind } = running;
    sql.setRunning.run(metricKind && JSON.stringify(metricKind), run.number);
  }
  if (metric !== undefined) sql.setMetric.run(metric, run.number);
  if (method !== undefined) addMethod(tables, run, method);
  if (end !== undefined) {
    sql.endRun.run(
      end.state,
      endOfRun(tables, run, end.at),
      end.metric ?? null,
      end.error === undefined ? null : JSON.stringify(end.error),
      run.number,
    );
  }
}

function addMethod(
  { changes, statements }: EventTables,
  run: RunRow,
  method: string,
): void {
  const { methods } = statements.runById.get(run.id)!;
  const used = JSON.parse(methods) as string[];
  if (used.at(-1) === method) return;
  used.push(method);
  changes.setMethods.run(JSON.stringify(used), run.number);
}

function addAlert(
  { changes, statements }: EventTables,
  run: RunRow,
  alert: Parameters<typeof alertsAfter>[1],
): void {
  const { alerts } = statements.runById.get(run.id)!;
  const known = alerts === null ? [] : (JSON.parse(alerts) as RunAlert[]);
  changes.setAlerts.run(JSON.stringify(alertsAfter(known, alert)), run.number);
}

function endOfRun(tables: EventTables, run: RunRow, lastAt: number): number {
  return endedAt({
    createdAt: run.created_at,
    now: Date.now(),
    firstAt: tables.changes.firstEventAt.get(run.number)?.at ?? lastAt,
    lastAt,
    isHere: nodesOf(JSON.parse(run.spec) as ExperimentSpec).every(
      (node) => node === LOCAL_NODE,
    ),
    ahead: clockAhead(tables.statements, run, lastAt),
  });
}

/** The `ahead` of the journal that ends at that time: the run's end was taken from it. */
function clockAhead(
  statements: Statements,
  run: RunRow,
  lastAt: number,
): number | undefined {
  const ends = statements.journals
    .all(run.number)
    .filter(
      ({ ending }) =>
        ending !== null && (JSON.parse(ending) as RunRecord).at === lastAt,
    );
  return (
    ends.find(({ clock_ahead: ahead }) => ahead !== null)?.clock_ahead ?? undefined
  );
}
