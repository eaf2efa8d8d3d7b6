/** The table of a run's states, and that callers see the phases that they know. */
import { describe, expect, it, test } from 'vitest';
import {
  firstState,
  RUN_TRANSITIONS,
  RunLife,
  type RunEvent,
  type RunState,
} from '../../../src/agent/supervisor/runs/run-life.ts';

const EVENTS: readonly RunEvent[] = [
  'start',
  'begin',
  'connected',
  'gone',
  'interrupt',
  'end',
];
const states = Object.keys(RUN_TRANSITIONS) as RunState[];
const WITH_PROCESSES: ReadonlySet<RunState> = new Set([
  'preparing',
  'running',
  'resuming',
]);

function walked(
  first: ConstructorParameters<typeof RunLife>[0],
  path: string,
): RunLife {
  const life = new RunLife(first);
  for (const event of path.split(' ')) life.happens(event as RunEvent);
  return life;
}

describe('the table', () => {
  it('writes the last record, and interrupts, only where no process is left', () => {
    for (const state of WITH_PROCESSES) {
      expect(RUN_TRANSITIONS[state].end).toBeUndefined();
      expect(RUN_TRANSITIONS[state].interrupt).toBeUndefined();
    }
  });

  it('starts processes only where there are none', () => {
    const starting = states.filter(
      (state) => RUN_TRANSITIONS[state].start !== undefined,
    );
    expect(starting).toEqual(['queued', 'interrupted']);
    expect(starting.every((state) => !WITH_PROCESSES.has(state))).toBe(true);
  });

  it('leaves a state with processes only when they begin, connect or are gone', () => {
    for (const state of WITH_PROCESSES) {
      for (const [event, next] of Object.entries(RUN_TRANSITIONS[state])) {
        expect(WITH_PROCESSES.has(next)).toBe(event !== 'gone');
      }
    }
  });

  it.each(states)('leads from %s to an end, and from the end nowhere', (state) => {
    const seen = new Set<RunState>([state]);
    for (const one of seen)
      for (const next of Object.values(RUN_TRANSITIONS[one])) seen.add(next);
    expect(seen.has('ended')).toBe(true);
    expect(RUN_TRANSITIONS.ended).toEqual({});
  });

  it('refuses everything else, and stays where it is', () => {
    const life = walked('preparing', 'gone end');
    for (const event of EVENTS) {
      expect(life.can(event)).toBe(false);
      expect(() => {
        life.happens(event);
      }).toThrow(`a run that is ended cannot have "${event}"`);
    }
    expect(life.state).toBe('ended');
  });
});

test.each([
  ['preparing', 'begin', 'running', 'running'],
  ['queued', 'start', 'preparing', 'preparing'],
  ['preparing', 'begin connected', 'running', 'running'],
  // Callers see a run whose end is being explained as it was before.
  ['preparing', 'gone', 'closing', 'preparing'],
  ['preparing', 'begin gone', 'closing', 'running'],
  ['preparing', 'begin gone interrupt', 'interrupted', 'interrupted'],
  ['interrupted', 'start begin', 'resuming', 'interrupted'],
  ['interrupted', 'start begin connected', 'running', 'running'],
  ['interrupted', 'start gone', 'closing', 'interrupted'],
  ['closing', 'interrupt', 'interrupted', 'interrupted'],
  ['queued', 'end', 'ended', 'ended'],
] as const)('%s, then %s: %s, seen as %s', (first, path, state, phase) => {
  const life = walked(first, path);
  expect([life.state, life.phase]).toEqual([state, phase]);
});

test('only a run whose ranks have begun can resume', () => {
  expect(walked('preparing', 'gone').hasRun).toBe(false);
  expect(walked('queued', 'start gone').hasRun).toBe(false);
  expect(walked('preparing', 'begin gone').hasRun).toBe(true);
  expect(walked('interrupted', 'start gone').hasRun).toBe(true);
});

test('a run begins where its options say', () => {
  const restored = (interrupted: boolean): never => ({ interrupted }) as never;
  expect(firstState({ restored: undefined, slurm: undefined })).toBe('preparing');
  expect(firstState({ restored: undefined, slurm: {} as never })).toBe('queued');
  expect(firstState({ restored: restored(true), slurm: undefined })).toBe(
    'interrupted',
  );
  expect(firstState({ restored: restored(false), slurm: {} as never })).toBe('closing');
});
