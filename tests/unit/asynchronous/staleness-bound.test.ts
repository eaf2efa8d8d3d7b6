/** The bound and the meetings, in every order in which workers can come. */
import { describe, expect, it } from 'vitest';
import { StalenessBound } from '../../../src/agent/asynchronous/staleness-bound.ts';

interface Walk {
  readonly workers: number;
  readonly staleness: number;
  /** All meet before this iteration at the latest. */
  readonly end: number;
  /** After how many pushes all together somebody wants to meet; default: nobody does. */
  readonly wantsAfter?: number;
}

/** What a worker is at: it computes this iteration, or it has been told of a meeting before it. */
interface Seat {
  iteration: number;
  waits: boolean;
  meets: boolean;
}

/**
 * Follows every interleaving of the workers' pushes, as a tree of choices: which worker ends
 * its iteration next. Checks the bound at each beginning and calls back at each end.
 */
function everyOrder(
  walk: Walk,
  ended: (meeting: number, largest: number) => void,
): number {
  const choices: number[] = [];
  let walks = 0;
  for (;;) {
    const taken = follow(walk, choices, ended);
    walks++;
    // The next path: the last choice that has another one.
    let last = taken.length - 1;
    while (last >= 0 && taken[last]!.choice + 1 === taken[last]!.of) last--;
    if (last < 0) return walks;
    choices.length = 0;
    for (let i = 0; i < last; i++) choices.push(taken[i]!.choice);
    choices.push(taken[last]!.choice + 1);
  }
}

function follow(
  { end, staleness, wantsAfter, workers }: Walk,
  choices: readonly number[],
  ended: (meeting: number, largest: number) => void,
): { choice: number; of: number }[] {
  const bound = new StalenessBound(workers, staleness);
  bound.meet(0);
  const seats: Seat[] = Array.from({ length: workers }, () => ({
    iteration: 0,
    waits: false,
    meets: false,
  }));
  const taken: { choice: number; of: number }[] = [];
  let pushes = 0;
  let largest = 0;
  const ask = (seat: Seat): void => {
    const answer = bound.ask(seat.iteration);
    seat.waits = answer === 'wait';
    seat.meets = answer === 'meet';
    if (answer !== 'begin') return;
    // By what the workers themselves have done, not by what the bound has counted.
    const slowest = Math.min(...seats.map(({ iteration }) => iteration));
    expect(seat.iteration - slowest).toBeLessThanOrEqual(staleness);
    largest = Math.max(largest, seat.iteration - slowest);
  };
  for (;;) {
    const able = seats.filter(({ meets, waits }) => !meets && !waits);
    if (able.length === 0) break;
    const choice = choices[taken.length] ?? 0;
    taken.push({ choice, of: able.length });
    const seat = able[choice]!;
    bound.pushed(seats.indexOf(seat), seat.iteration);
    seat.iteration++;
    pushes++;
    if (pushes === wantsAfter) bound.wantMeeting();
    if (seat.iteration === end) seat.meets = true;
    for (const one of seats) if (one === seat ? !one.meets : one.waits) ask(one);
  }
  // Nobody is left waiting, and all are at the same place.
  expect(seats.map(({ meets }) => meets)).toEqual(seats.map(() => true));
  const [{ iteration: meeting } = { iteration: -1 }] = seats;
  expect(seats.map(({ iteration }) => iteration)).toEqual(seats.map(() => meeting));
  ended(meeting, largest);
  return taken;
}

describe('the bound on staleness', () => {
  it.each([
    [2, 0],
    [2, 1],
    [2, 3],
    [3, 0],
    [3, 1],
    [3, 2],
  ])(
    'of %i workers, s = %i: is kept, and reached, in every order',
    (workers, staleness) => {
      let reached = 0;
      const end = workers === 2 ? 5 : 3;
      const walks = everyOrder({ workers, staleness, end }, (meeting, largest) => {
        expect(meeting).toBe(end);
        reached = Math.max(reached, largest);
      });
      expect(walks).toBeGreaterThan(1);
      expect(reached).toBe(Math.min(staleness, end - 1));
    },
  );

  it.each([1, 2, 4, 5])(
    'all meet at one iteration, soon, whoever wants it after %i pushes',
    (wantsAfter) => {
      const meetings = new Set<number>();
      const walk = { workers: 3, staleness: 1, end: 6, wantsAfter };
      everyOrder(walk, (meeting) => {
        meetings.add(meeting);
      });
      expect(Math.min(...meetings)).toBeGreaterThan(0);
      // The slowest has pushed a third at most, and the newest iteration is s ahead of it.
      expect(Math.max(...meetings)).toBeLessThanOrEqual(Math.floor(wantsAfter / 3) + 2);
    },
  );

  it('goes on from a meeting as from the beginning', () => {
    const bound = new StalenessBound(2, 1);
    bound.meet(7);
    expect(bound.version).toBe(7);
    bound.pushed(0, 7);
    expect(bound.ask(8)).toBe('begin');
    bound.pushed(0, 8);
    expect(bound.ask(9)).toBe('wait');
    bound.wantMeeting();
    expect(bound.ask(9)).toBe('meet');
    bound.pushed(1, 7);
    expect(bound.ask(8)).toBe('begin');
    bound.meet(9);
    expect(bound.ask(10)).toBe('begin');
  });

  it('does not take a push twice, or one that was not allowed to begin', () => {
    const bound = new StalenessBound(2, 1);
    bound.meet(0);
    expect(() => {
      bound.pushed(0, 1);
    }).not.toThrow();
    expect(() => {
      bound.pushed(0, 1);
    }).toThrow('internal: worker 0 pushed iteration 1, and has all before 0');
    bound.pushed(0, 0);
    expect(() => {
      bound.pushed(0, 1);
    }).toThrow('internal: worker 0 pushed iteration 1, and has all before 2');
    expect(() => {
      bound.pushed(0, 4);
    }).toThrow('internal: worker 0 pushed iteration 4, and has all before 2');
  });

  it('counts what has been pushed without a gap, whatever the order', () => {
    const bound = new StalenessBound(2, 4);
    bound.meet(10, 3);
    bound.pushed(0, 12);
    expect([bound.version, bound.even]).toEqual([10, false]);
    for (const iteration of [10, 11, 12]) bound.pushed(1, iteration);
    expect(bound.version).toBe(10);
    bound.pushed(0, 10);
    expect([bound.version, bound.even]).toEqual([11, false]);
    bound.pushed(0, 11);
    expect([bound.version, bound.even]).toEqual([13, true]);
  });

  it('meets behind what workers have begun at once', () => {
    const bound = new StalenessBound(2, 4);
    bound.meet(10, 3);
    bound.wantMeeting();
    expect(bound.ask(13)).toBe('meet');
  });
});
