/** Verdicts on emulated networks: links that no two ranks have say nothing. */
import { describe, expect, it } from 'vitest';
import type { StartedRecord } from '../../../src/shared/records/started.ts';
import { RecentIterations } from '../../../src/shared/verdict/recent-iterations.ts';
import { verdict } from '../../../src/shared/verdict/verdict.ts';
import { verdictContext } from '../../../src/shared/verdict/verdict-context.ts';
import { summarizeWindow } from '../../../src/shared/verdict/window-summary.ts';
import { iterationRecord } from '../renderer/records.ts';

type Network = NonNullable<StartedRecord['emulated']>;

const link = (bandwidth: number, latency: number) => ({ bandwidth, latency });
const between = (a: string, b: string, own: ReturnType<typeof link>) => ({
  between: [a, b] as const,
  ...own,
});

const contextOf = (
  emulated: Network,
  places = ['a', 'b'],
  nodes: readonly string[] = [...new Set(places)],
) => {
  const processes = places.map((node, rank) => ({ rank, pid: 1, node }));
  const started = { type: 'started', at: 0, ranks: places.length, processes, emulated };
  const events = [started as unknown as StartedRecord];
  return verdictContext({ events, nodes, ranks: places.length });
};

/** Two ranks on a link of 20 ms, of which one began its step earlier, in turn. */
function boundOn(emulated: Network): string {
  const recent = new RecentIterations(2, 64);
  for (let iteration = 0; iteration < 20; iteration++) {
    for (const rank of [0, 1]) {
      const isEarly = (iteration + rank) % 2 === 0;
      const phases = { compute: 10, receive: 1, wait: isEarly ? 27 : 11 };
      recent.add(
        iterationRecord({ rank, iteration, phases, dense: 4000, wireSent: 4000 }),
      );
    }
  }
  return verdict(summarizeWindow(recent, 0, 20)!, contextOf(emulated))!.statements[0]!
    .text;
}

describe('the verdict on an emulated network', () => {
  it('is that of the link which the ranks have, whatever the common one is', () => {
    const far = link(1e10, 20);
    const plain = boundOn(far);
    expect(plain).toMatch(
      /^the latency of the link \(10\.0 Gbit\/s, 20\.0 ms\) .* 6\d %/,
    );
    for (const common of [link(1e10, 0.05), link(1e6, 0.05), link(1e6, 500)]) {
      const text = boundOn({ ...common, pairs: [between('b', 'a', far)] });
      expect(text.replace(', between b and a', '')).toBe(plain);
    }
  });

  it('names the link that bounds: the slowest, or the farthest', () => {
    const pairs = [
      between('a', 'b', link(1e8, 1)),
      between('a', 'c', link(1e9, 30)),
      between('c', 'd', link(1e5, 900)),
    ];
    const { latency, linkTime, worstLink } = contextOf({ ...link(1e10, 0.05), pairs }, [
      'a',
      'b',
      'c',
    ]);
    expect(latency).toEqual({ least: 0.05, most: 30 });
    expect(linkTime).toBeCloseTo(8.5e-5, 6);
    expect(worstLink).toEqual({
      bandwidth: '100 Mbit/s, 1.00 ms, between a and b',
      latency: '1.00 Gbit/s, 30.0 ms, between a and c',
    });
  });

  it('knows links within a machine, and this computer by its name in the spec', () => {
    const pairs = [between('this-computer', 'this-computer', link(1e8, 3))];
    const network = { ...link(1e10, 0.05), pairs };
    expect(contextOf(network, ['host', 'host'], ['this-computer']).latency).toEqual({
      least: 3,
      most: 3,
    });
    const both = contextOf(network, ['host', 'host', 'box'], ['this-computer', 'box']);
    expect(both.latency).toEqual({ least: 0.05, most: 3 });
    // One rank there has no other beside it.
    const spread = contextOf(network, ['host', 'box'], ['this-computer', 'box']);
    expect(spread.latency).toEqual({ least: 0.05, most: 0.05 });
  });

  it('takes all links for possible until each rank has a place', () => {
    const pairs = [between('a', 'b', link(1e8, 3))];
    const network = { ...link(1e10, 0.05), pairs };
    expect(contextOf(network, ['a']).latency).toEqual({ least: 0.05, most: 3 });
  });
});
