import { describe, expect, it } from 'vitest';
import { sumPhases } from '../../../src/shared/phases.ts';
import type {
  DoneRecord,
  IterationRecord,
  RunRecord,
  SwitchRecord,
} from '../../../src/shared/records.ts';
import { effort } from '../../harness/effort.ts';
import { GradwireHome } from '../../harness/gradwire.ts';

interface Outcome {
  readonly iterations: readonly IterationRecord[];
  readonly switches: readonly SwitchRecord[];
  readonly done: DoneRecord;
  readonly records: readonly RunRecord[];
}

/** Notices, but for what `auto` tells of its choices. */
const troublesIn = (records: readonly RunRecord[]): readonly RunRecord[] =>
  records.filter(
    (record) =>
      record.type === 'notice' &&
      !/^(COLLECTIVE_|COMPRESSION_DOES_NOT_PAY|MOMENTUM_REPLACED)/.test(record.code),
  );

async function train(
  settings: readonly string[],
  switches: readonly string[] = [],
): Promise<Outcome> {
  await using home = new GradwireHome();
  const command = home.start([
    'run',
    'quickstart',
    '--json',
    ...settings.flatMap((setting) => ['--set', setting]),
    ...switches.flatMap((text) => ['--switch', text]),
  ]);
  const { code, stderr } = await command.finished;
  expect({ code, stderr }).toMatchObject({ code: 0 });
  const { records } = command;
  return {
    records,
    iterations: records.filter((record) => record.type === 'iteration'),
    switches: records.filter((record) => record.type === 'switch'),
    done: records.find((record) => record.type === 'done')!,
  };
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

describe('a run of real processes', () => {
  it.each([
    [1, 'none', []],
    [2, 'none', ['exchange.collective=recursive-doubling']],
    [3, 'topk', ['exchange.ratio=0.01']],
    [4, 'none', ['exchange.collective=ring', 'exchange.bucketBytes=100000']],
    [5, 'topk', ['exchange.ratio=0.2', 'exchange.bucketBytes=100000']],
    [5, 'a2sgd', []],
    [2, 'topk', ['engine=thread']],
  ] as const)(
    'of %i ranks with %s ends with equal replicas',
    async (ranks, method, more) => {
      const iterations = 30;
      const {
        iterations: records,
        done,
        records: all,
      } = await train([
        `world.ranks=${ranks}`,
        `iterations=${iterations}`,
        `exchange.method=${method}`,
        ...more,
      ]);
      expect(done).toMatchObject({ iterations, reason: 'completed', consistent: true });
      expect(troublesIn(all)).toEqual([]);
      // One record for every rank and iteration, each once.
      const seen = new Set(
        records.map(({ rank, iteration }) => `${rank}/${iteration}`),
      );
      expect(seen.size).toBe(ranks * iterations);
      expect(records).toHaveLength(ranks * iterations);
      for (const record of records) {
        const { bytes } = record;
        expect(bytes.dense).toBe(4 * 199_210);
        if (ranks === 1) expect(bytes.wireSent).toBe(0);
        if (method === 'topk') expect(record.nnzLocal).toBeGreaterThan(0);
        else if (method === 'a2sgd') expect(record.nnzLocal).toBeUndefined();
      }
      // No moment is in two phases, of any iteration; few are in none that has a name.
      for (const { phases, wall } of records) {
        expect(sumPhases(phases)).toBeLessThanOrEqual(wall * (1 + 1e-9));
      }
      const total = (of: (record: IterationRecord) => number): number =>
        records.reduce((sum, record) => sum + of(record), 0);
      expect(total(({ phases }) => phases.other)).toBeLessThan(
        total(({ wall }) => wall) / 2,
      );
      if (method === 'a2sgd') expect(done.divergence).toBeGreaterThan(0);
      else expect(done.divergence).toBeUndefined();
    },
  );

  it('sends what the algorithms’ formulas say', async () => {
    const n = 199_210;
    const { iterations } = await train(
      ['iterations=30', 'exchange.method=none', 'exchange.collective=ring'],
      ['10:method=topk,ratio=0.01,collective=sparse-allgather', '20:method=a2sgd'],
    );
    const payloadSent = (method: string): number =>
      median(
        iterations
          .filter((record) => record.method === method && record.iteration % 10 >= 2)
          .map(({ bytes }) => bytes.wireSent - bytes.framingSent),
      );
    // A ring sends 2(P−1)/P·4n, an allgather of k pairs (P−1)·8k at most by one rank,
    // two means 2·log₂P messages of 8 bytes; a few bytes of control come on top.
    const control = 200;
    expect(payloadSent('none')).toBeGreaterThanOrEqual(1.5 * 4 * n - 16);
    expect(payloadSent('none')).toBeLessThanOrEqual(1.5 * 4 * n + 16 + control);
    const k = Math.ceil(0.01 * n);
    expect(payloadSent('topk')).toBeGreaterThanOrEqual(3 * 8 * (k - 1));
    expect(payloadSent('topk')).toBeLessThanOrEqual(3 * 8 * k + control);
    expect(payloadSent('a2sgd')).toBeLessThanOrEqual(control);
  });

  it('is the same, bit for bit, when it is run again', async () => {
    const settings = [
      'iterations=40',
      'exchange.method=topk',
      'exchange.collective=sparse-allgather',
      'world.ranks=3',
    ];
    const schedule = ['15:method=none', '25:method=a2sgd', '30:method=topk,ratio=0.05'];
    const first = await train(settings, schedule);
    const second = await train(settings, schedule);
    expect(second.done.weights).toBe(first.done.weights);
    expect(second.done.loss).toBe(first.done.loss);
  });

  it('is the same whether the engine has a thread of its own or not', async () => {
    const settings = [
      'iterations=20',
      'exchange.method=topk',
      'exchange.collective=sparse-allgather',
      'world.ranks=3',
    ];
    const [inline, thread] = [
      await train([...settings, 'engine=inline']),
      await train([...settings, 'engine=thread']),
    ];
    expect(thread.done.weights).toBe(inline.done.weights);
  });

  it('switches at exactly the iteration asked for, on every rank', async () => {
    const { switches, iterations } = await train(
      ['iterations=30'],
      ['10:method=topk,ratio=0.05', '20:method=none'],
    );
    expect(switches.map(({ fence, residual }) => [fence, residual])).toEqual([
      [10, 'none'],
      [20, 'flushed'],
    ]);
    for (const { iteration, method, epoch } of iterations) {
      const middle = iteration >= 10 && iteration < 20;
      expect([iteration, method]).toEqual([iteration, middle ? 'topk' : 'none']);
      expect(epoch).toBe(iteration < 10 ? 0 : middle ? 1 : 2);
    }
  });

  it.each(['dgc', 'powersgd'])(
    'goes on as before when the collective of %s alone is switched',
    async (method) => {
      // Two ranks: a sum of two is the same by every collective.
      const settings = ['iterations=30', 'world.ranks=2', `exchange.method=${method}`];
      const collective = method === 'dgc' ? 'ssar-recursive-doubling' : 'ring';
      const left = await train(settings);
      const switched = await train(settings, [`12:collective=${collective}`]);
      expect(switched.done.weights).toBe(left.done.weights);
      expect(switched.switches).toMatchObject([{ residual: 'kept', state: 'kept' }]);
    },
  );

  it.each([1, 2])(
    'trains %i ranks by dgc as by momentum where all is sent and nothing masked',
    async (ranks) => {
      const settings = [
        'iterations=30',
        `world.ranks=${ranks}`,
        'optimizer.momentum=0.8',
      ];
      const dense = await train([...settings, 'exchange.method=none']);
      const corrected = await train([
        ...settings,
        'exchange.method=dgc',
        'exchange.ratio=1',
        'exchange.factorMasking=false',
      ]);
      const losses = ({ iterations }: Outcome): number[] =>
        iterations.filter(({ rank }) => rank === 0).map(({ loss }) => loss);
      const expected = losses(dense);
      expect(expected.at(-1)).toBeLessThan(0.75 * expected[0]!);
      losses(corrected).forEach((loss, t) => {
        expect(Math.abs(loss / expected[t]! - 1), `iteration ${t}`).toBeLessThan(1e-3);
      });
      expect(corrected.done.consistent).toBe(true);
    },
  );

  it('gives dgc the optimiser’s momentum, and says so once', async () => {
    const { records, switches, done } = await train(
      ['iterations=20', 'world.ranks=2', 'optimizer.momentum=0.6'],
      [
        "5:method=dgc,layers=[{match: '*.bias', method: none}]",
        '10:method=topk',
        '15:method=dgc',
      ],
    );
    expect(switches.map(({ to }) => to.parameters['momentum'])).toEqual([
      0.6,
      undefined,
      0.6,
    ]);
    // Velocities are no gradients.
    expect(switches.map(({ residual }) => residual)).toEqual([
      'none',
      'flushed',
      'flushed',
    ]);
    const notices = records.filter(
      (record) => record.type === 'notice' && record.code === 'MOMENTUM_REPLACED',
    );
    expect(notices).toMatchObject([
      {
        level: 'info',
        message:
          'momentum is within the compression of 198800 of 199210 elements: the ' +
          "optimiser's, 0.6, does not apply to them",
      },
    ]);
    expect(done.consistent).toBe(true);
  });

  it('counts a ramp from the fence of the switch that gives it', async () => {
    const { switches, iterations } = await train(
      ['iterations=20', 'world.ranks=2', 'exchange.method=topk', 'exchange.ratio=0.01'],
      ['10:rampIterations=4,rampFrom=0.16', '16:collective=sparse-allgather'],
    );
    const starts = switches.map(({ to }) => to.parameters['rampStart']);
    expect(starts).toEqual([10, 10]);
    const densities = iterations
      .filter(({ rank }) => rank === 0)
      .map(({ density }) => Number(density!.toFixed(2)));
    expect(densities.slice(8)).toEqual([
      0.01, 0.01, 0.16, 0.08, 0.04, 0.02, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01,
    ]);
  });

  const CHANGES = effort({ quick: 80, soak: 200 });
  it(`keeps replicas bit-identical through ${CHANGES} random switches`, async () => {
    // A fixed linear congruential sequence: the same switches in every run of the test.
    let state = 12_345;
    const random = (below: number): number => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return Math.floor((state / 2 ** 32) * below);
    };
    const pick = <T>(values: readonly T[]): T => values[random(values.length)]!;
    const iterations = 2 * CHANGES + 50;
    const schedule = Array.from({ length: CHANGES }, (_, index) => {
      const at = 1 + index * 2 + random(40);
      const change = pick([
        () => `method=none,collective=${pick(['ring', 'recursive-doubling', 'auto'])}`,
        () => `method=topk,ratio=${pick([0.001, 0.01, 0.3, 1])}`,
        () => 'method=a2sgd',
        () => `method=${pick(['qsgd', 'onebit', 'randomk', 'dct', 'scalecom', 'dgc'])}`,
        () => `bucketBytes=${pick([1, 50_000, 4_194_304])}`,
      ])();
      return `${at}:${change},residual=${pick(['flush', 'drop'])}`;
    });
    // It must end under a method that promises identical replicas.
    const { done, switches, records } = await train(
      [`iterations=${iterations}`, 'evaluateEvery=0', 'optimizer.lr=0.01'],
      [...schedule, `${iterations - 5}:method=topk,ratio=0.01`],
    );
    expect(switches).toHaveLength(CHANGES + 1);
    expect(troublesIn(records)).toEqual([]);
    expect(done).toMatchObject({ consistent: true, iterations });
    expect(done.divergence).toBeUndefined();
    const drift = records.filter((record) => record.type === 'divergence');
    expect(drift.length).toBeGreaterThan(0);
    expect(drift.every(({ value }) => Number.isFinite(value))).toBe(true);
  });
});
