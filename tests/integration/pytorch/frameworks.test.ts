/** Trainers of others under Gradwire, with their real packages. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { GradwireHome, succeeded } from '../../harness/gradwire.ts';
import { frameworks } from '../../harness/python.ts';
import { ofType } from '../../harness/records.ts';

const examples = path.join(import.meta.dirname, '../../../examples/pytorch');
const STEPS = 12;

describe.skipIf(frameworks === undefined)('under Gradwire', () => {
  const home = new GradwireHome();
  const folder = mkdtempSync(path.join(tmpdir(), 'gradwire-frameworks-'));

  afterAll(async () => {
    await home[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Trains, and switches to topk in the middle. */
  async function train(ranks: number, ...program: readonly string[]): Promise<void> {
    const command = home.start([
      ...['exec', '--json', '--ranks', String(ranks)],
      ...['--switch', '6:method=topk,ratio=0.05', '--', frameworks!, ...program],
    ]);
    succeeded(await command.finished);
    const digests = ofType(command.records, 'log').filter(({ text }) =>
      text.startsWith('weights '),
    );
    expect(digests).toHaveLength(ranks);
    expect(new Set(digests.map(({ text }) => text)).size).toBe(1);
    const iterations = ofType(command.records, 'iteration');
    expect(iterations).toHaveLength(ranks * STEPS);
    expect(iterations.some(({ loss }) => loss !== undefined)).toBe(true);
    for (const { phases, iteration, bytes } of iterations) {
      expect(phases.apply).toBeGreaterThan(0);
      // On one rank Lightning calls the training step, and nobody the model's forward pass.
      if (ranks > 1) {
        expect(phases.forward).toBeGreaterThan(0);
        expect(phases.backward).toBeGreaterThan(0);
      }
      if (iteration >= 6) expect(bytes.payload).toBeLessThan(bytes.dense / 2);
    }
    const done = await command.record('done');
    expect(done).toMatchObject({ consistent: true, iterations: STEPS });
  }

  const withLightning = async (ranks: number): Promise<void> => {
    const script = path.join(import.meta.dirname, 'with_lightning.py');
    await train(ranks, script, String(STEPS));
  };

  const withHuggingFace = async (ranks: number): Promise<void> => {
    const text = path.join(folder, 'text.txt');
    writeFileSync(text, 'To be, or not to be, that is the question. '.repeat(400));
    const size = ['--width', '32', '--layers', '1', '--steps', String(STEPS)];
    await train(ranks, path.join(examples, 'gpt_trainer.py'), text, ...size);
  };

  const trainers = [
    ['Lightning', withLightning],
    ['the Trainer of Hugging Face', withHuggingFace],
  ] as const;

  test.each(trainers)('%s trains on two ranks', (_, trains) => trains(2));
  test.each(trainers)('%s trains on one rank', { tags: 'soak' }, (_, trains) =>
    trains(1),
  );
});
