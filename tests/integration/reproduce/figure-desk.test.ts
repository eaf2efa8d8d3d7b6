/** Figures as pages see them: listed, begun as a real command, stopped, and shown. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { FigureDesk } from '../../../src/main/figures/figure-desk.ts';
import { GradwireHome } from '../../harness/gradwire.ts';

const home = new GradwireHome();
const reproduced = path.join(home.directory, 'reproduced');
const desk = new FigureDesk(
  { directory: home.directory, reproduced },
  (run) => run !== 'run-0',
);
const { api } = desk;
afterAll(async () => {
  await desk.close();
  await home[Symbol.asyncDispose]();
});

const figure = async (id: string) =>
  (await api.figures()).find((one) => one.id === id)!;

test('each figure says what it costs; a damaged result is told at its own', async () => {
  mkdirSync(reproduced, { recursive: true });
  writeFileSync(path.join(reproduced, 'qsgd-section-3.json'), '{');
  const all = await api.figures();
  const codes = new Map(all.map(({ error, id }) => [id, error?.code]));
  expect(codes.get('qsgd-section-3')).toBe('RESULT_INVALID');
  expect([...codes.values()].filter((code) => code !== undefined)).toHaveLength(1);
  for (const { command, id, iterations, ranks, runs } of all) {
    expect(Math.min(runs, ranks)).toBeGreaterThan(0);
    expect(iterations).toBeGreaterThanOrEqual(runs);
    expect(command).toContain(`gradwire reproduce ${id} --out `);
  }
  await expect(api.figurePage('a2sgd-table-2')).rejects.toMatchObject({
    code: 'RESULTS_MISSING',
  });
  await expect(api.startFigure('figure-0', 'anew')).rejects.toMatchObject({
    code: 'FIGURE_UNKNOWN',
  });
});

test('one runs at a time; a stop leaves its runs, which are taken up, and neither a result nor an error', async () => {
  const id = 'a2sgd-table-2';
  await api.startFigure(id, 'anew');
  expect(await figure(id)).toMatchObject({ running: 0, kept: 0 });
  await expect(api.startFigure('qsgd-section-3', 'anew')).rejects.toMatchObject({
    code: 'FIGURE_BUSY',
  });
  await vi.waitFor(
    async () => {
      expect((await figure(id)).running).toBeGreaterThan(0);
    },
    { timeout: 60_000, interval: 50 },
  );
  await api.stopFigure();
  const { error, kept, result, running } = await figure(id);
  expect({ error, result, running }).toEqual({});
  expect(kept).toBeGreaterThan(0);
  await api.startFigure(id, 'resume');
  await vi.waitFor(
    async () => {
      expect((await figure(id)).running).toBeGreaterThanOrEqual(kept);
    },
    { timeout: 60_000, interval: 50 },
  );
  await api.stopFigure();
  expect((await figure(id)).kept).toBeGreaterThanOrEqual(kept);
});
