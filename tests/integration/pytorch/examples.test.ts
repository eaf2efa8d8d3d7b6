/** The examples for MNIST and for a text, each for ten steps on real data. */
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import {
  GradwireHome,
  succeeded,
  type RunningCommand,
} from '../../harness/gradwire.ts';
import { pytorch } from '../../harness/python.ts';
import { realDataWith } from '../../harness/real-data.ts';
import { ofType } from '../../harness/records.ts';

const examples = path.join(import.meta.dirname, '../../../examples/pytorch');
const digits = realDataWith('train-images-idx3-ubyte.gz');
const texts = realDataWith('tinyshakespeare.txt');
const STEPS = 10;

describe.skipIf(pytorch === undefined)('of two ranks', { tags: 'soak' }, () => {
  const home = new GradwireHome();

  afterAll(() => home[Symbol.asyncDispose]());

  /** Trains with an example. */
  async function train(
    options: readonly string[],
    example: string,
    ...args: readonly string[]
  ): Promise<RunningCommand> {
    const command = home.start([
      ...['exec', '--json', '--ranks', '2', ...options, '--'],
      ...[pytorch!, path.join(examples, example), ...args, '--steps', String(STEPS)],
    ]);
    succeeded(await command.finished);
    const iterations = ofType(command.records, 'iteration');
    expect(iterations).toHaveLength(2 * STEPS);
    for (const { bytes, phases } of iterations) {
      expect(bytes.dense).toBeGreaterThan(0);
      for (const phase of ['forward', 'backward', 'apply'] as const) {
        expect(phases[phase]).toBeGreaterThan(0);
      }
    }
    return command;
  }

  /** Trains with an example that joins, and switches in the middle. */
  async function joins(example: string, ...args: readonly string[]): Promise<void> {
    const change = ['--switch', `${STEPS / 2}:method=topk,ratio=0.01`];
    const command = await train(change, example, ...args);
    for (const { bytes, iteration, loss } of ofType(command.records, 'iteration')) {
      expect(loss).toBeGreaterThan(0);
      if (iteration >= STEPS / 2) expect(bytes.payload).toBeLessThan(bytes.dense / 10);
      else expect(bytes.payload).toBe(bytes.dense);
    }
    expect(await command.record('done')).toMatchObject({
      iterations: STEPS,
      consistent: true,
    });
  }

  describe.skipIf(digits === undefined)('train on digits', () => {
    test('mnist_mlp.py', () => joins('mnist_mlp.py', digits!, '--epochs', '1'));

    test('digits_cnn.py', () => joins('digits_cnn.py', digits!));

    test('mnist_mlp_ddp.py, which is observed', async () => {
      const args = [digits!, '--epochs', '1'];
      const command = await train(['--observe'], 'mnist_mlp_ddp.py', ...args);
      // Its first rank prints the loss of the first step.
      const losses = ofType(command.records, 'iteration')
        .filter(({ loss }) => loss !== undefined)
        .map(({ iteration, rank }) => [rank, iteration]);
      expect(losses).toEqual([[0, 0]]);
      expect(
        ofType(command.records, 'log').some(({ text }) => /^accuracy 0\./.test(text)),
      ).toBe(true);
    });
  });

  test.skipIf(texts === undefined)('char_lstm.py trains on a text', () =>
    joins('char_lstm.py', path.join(texts!, 'tinyshakespeare.txt'), '--width', '32'),
  );
});
