/** Runs whose ranks compute with PyTorch (`backend: torch`): real processes. */
import { afterAll, describe, expect, test } from 'vitest';
import { GradwireHome, succeeded } from '../../harness/gradwire.ts';
import { pytorch } from '../../harness/python.ts';
import { until } from '../../harness/processes.ts';
import { ofType } from '../../harness/records.ts';

const ITERATIONS = 50;

describe.skipIf(pytorch === undefined)('backend: torch', () => {
  const home = new GradwireHome();

  afterAll(async () => {
    await home[Symbol.asyncDispose]();
  });

  const run = (settings: readonly string[]) =>
    home.start([
      ...['run', 'quickstart', '--json', '--set', 'world.ranks=2'],
      ...['--set', `iterations=${ITERATIONS}`, '--set', 'evaluateEvery=20'],
      ...settings.flatMap((setting) => ['--set', setting]),
    ]);

  test('a diverging run ends by the rank and iteration that has no number any more', async () => {
    const command = run(['backend=torch', `python=${pytorch!}`, 'optimizer.lr=1e30']);
    const { code, stderr } = await command.finished;
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /(GRADIENT|LOSS)_NOT_FINITE: .* in iteration \d+ \(rank [01]\)\. Lower the learning rate/,
    );
  });

  test(
    'FNN-3 has the losses of WebAssembly over 50 iterations, and equal replicas',
    { tags: 'soak' },
    async () => {
      const commands = [
        run(['backend=torch', `python=${pytorch!}`]),
        run(['backend=wasm']),
      ];
      for (const command of commands) succeeded(await command.finished);
      const [torch, wasm] = commands.map(({ records }) => records);
      const losses = (records: typeof torch) =>
        ofType(records!, 'iteration')
          .toSorted((a, b) => a.iteration - b.iteration || a.rank - b.rank)
          .map(({ loss }) => loss!);
      const expected = losses(wasm);
      expect(expected).toHaveLength(2 * ITERATIONS);
      for (const [i, loss] of losses(torch).entries()) {
        expect(Math.abs(loss - expected[i]!)).toBeLessThanOrEqual(1e-5);
      }
      const measured = (records: typeof torch) =>
        ofType(records!, 'evaluation').map(({ loss }) => loss);
      for (const [i, loss] of measured(torch).entries()) {
        expect(loss).toBeCloseTo(measured(wasm)[i]!, 4);
      }
      const [started] = ofType(torch!, 'started');
      expect(started!.backend).toBe('torch');
      expect(started!.processes[0]!.device).toMatch(/^CPU, PyTorch 2/);
      const [done] = ofType(torch!, 'done');
      expect(done).toMatchObject({ reason: 'completed', consistent: true });
    },
  );

  test.each([['doubleBuffer=true'], ['optimizer.fullGradientEvery=3']])(
    'gradients into other memory are those of WebAssembly: %s',
    async (setting) => {
      const losses = async (backend: readonly string[]): Promise<readonly number[]> => {
        const command = run([...backend, setting, 'iterations=8']);
        succeeded(await command.finished);
        expect(await command.record('done')).toMatchObject({ consistent: true });
        return ofType(command.records, 'iteration')
          .toSorted((a, b) => a.iteration - b.iteration || a.rank - b.rank)
          .map(({ loss }) => loss!);
      };
      const torch = await losses(['backend=torch', `python=${pytorch!}`]);
      const wasm = await losses(['backend=wasm']);
      expect(torch).toHaveLength(16);
      for (const [i, loss] of torch.entries()) expect(loss).toBeCloseTo(wasm[i]!, 4);
    },
  );

  test(
    'the death of a process ends the run, which names its rank; nothing is left',
    { tags: 'soak' },
    async () => {
      const command = run([
        ...['backend=torch', `python=${pytorch!}`, 'iterations=1000000'],
        ...['exchange.method=topk', 'overlap=true'],
      ]);
      const { processes } = await command.record('started');
      await command.record('iteration', ({ iteration }) => iteration >= 3);
      const victim = computing().find(({ parent }) => parent === processes[1]!.pid);
      process.kill(victim!.pid, 'SIGKILL');
      expect((await command.finished).code).not.toBe(0);
      const { error } = await command.record('failed');
      expect(error).toMatchObject({ code: 'TORCH_LOST', rank: 1 });
      expect(error.message).toContain('SIGKILL');
      await until(computing, (left) => left.length === 0, 'the processes to end');
    },
  );

  /** Processes of this home that compute with PyTorch. */
  const computing = () =>
    home.processes('gradwire.compute').filter(({ title }) => !title.includes('sh -c'));
});
