/** Which phase the work of a method that talks belongs to, by a clock that the test moves. */
import { describe, expect, it } from 'vitest';
import type { GradientBucket } from '../../../src/agent/methods/bucket-compressor.ts';
import type { Communicate } from '../../../src/agent/methods/method.ts';
import { PhaseClock } from '../../../src/agent/profile/phase-clock.ts';
import { timedExchange } from '../../../src/agent/sites/timed-exchange.ts';
import { run, wait, type Steps } from '../../../src/agent/work/steps.ts';

let now = 0;
const payload = { kind: 'dense', length: 0, data: { offset: 0, bytes: 0 } } as const;
const say = (communicate: Communicate) =>
  wait(communicate({ operation: 'reduce', payload }));

/** Time that passes while a device works. */
const device = (ms: number): Promise<void> =>
  Promise.resolve().then(() => {
    now += ms;
  });

async function phasesOf(
  steps: (communicate: Communicate) => Steps<object>,
): Promise<Record<string, number>> {
  now = 0;
  const clock = new PhaseClock(() => now);
  const bucket = {
    exchange: async (_iteration, communicate, resume) =>
      await run(steps(communicate), resume),
  } as GradientBucket;
  clock.begin();
  await timedExchange(clock, bucket, 0, async () => {
    await clock.measure('send', () => {
      now += 1000;
      return Promise.resolve();
    });
    return { form: 'dense', data: payload.data };
  });
  const { phases } = clock.end();
  return Object.fromEntries(Object.entries(phases).filter(([, ms]) => ms > 0));
}

describe('the work of an exchange of several messages', () => {
  it('is compression up to the last message and decompression behind it', async () => {
    const phases = await phasesOf(function* (communicate) {
      now += 1;
      yield* say(communicate);
      now += 10;
      yield* say(communicate);
      now += 100;
      return {};
    });
    expect(phases).toEqual({ compress: 11, decompress: 100, send: 2000 });
  });

  it('on a device belongs to compression while it is waited for', async () => {
    const phases = await phasesOf(function* (communicate) {
      yield* wait(device(1));
      now += 10;
      yield* wait(device(100));
      yield* say(communicate);
      now += 5;
      return {};
    });
    expect(phases).toEqual({ compress: 111, decompress: 5, send: 1000 });
  });

  it('is compression where nothing is said', async () => {
    const phases = await phasesOf(function* () {
      now += 3;
      yield* wait(device(4));
      now += 5;
      return {};
    });
    expect(phases).toEqual({ compress: 12 });
  });

  it('is counted where it fails, too', async () => {
    const failing = phasesOf(function* (communicate) {
      now += 1;
      yield* say(communicate);
      throw new Error('a fault');
    });
    await expect(failing).rejects.toThrow('a fault');
  });
});
