/** The time from `gradwire run` to the first iteration finished by every rank, cold processes. */
import { GradwireHome } from '../../tests/harness/gradwire.ts';
import { median, quantile } from '../quantiles.ts';
import type { Measurement } from '../report.ts';

const RANKS = 4;
const REPETITIONS = 7;

export async function measureStart(): Promise<readonly Measurement[]> {
  const seconds: number[] = [];
  for (let repetition = 0; repetition < REPETITIONS; repetition++) {
    await using home = new GradwireHome();
    const start = performance.now();
    const command = home.start([
      'run',
      'quickstart',
      '--json',
      '--set',
      'iterations=5',
      '--set',
      `world.ranks=${RANKS}`,
    ]);
    for (let rank = 0; rank < RANKS; rank++) {
      await command.record(
        'iteration',
        (record) => record.rank === rank && record.iteration === 0,
      );
    }
    seconds.push((performance.now() - start) / 1000);
    await command.finished;
  }
  return [
    {
      name: 'start to first iteration, P = 4',
      value: median(seconds),
      unit: 's',
      goal: 3,
      note: `median of ${REPETITIONS}, worst ${quantile(seconds, 1).toFixed(2)} s`,
    },
  ];
}
