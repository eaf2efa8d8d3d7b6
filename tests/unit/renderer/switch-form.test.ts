/** A switch in the panel: what its order says, what is forgotten afterwards, and its prediction. */
import { afterEach, expect, test, vi } from 'vitest';
import { SwitchForesight } from '../../../src/renderer/state/runs/switch-foresight.svelte.ts';
import { SwitchForm } from '../../../src/renderer/state/runs/switch-form.svelte.ts';
import type { ErrorData } from '../../../src/shared/errors/errors.ts';
import { ScriptedHost, settle } from './scripted-host.ts';

afterEach(() => void vi.useRealTimers());

const REFUSED: ErrorData = { code: 'SPEC_INVALID', kind: 'input', message: 'no' };
const [TOPK, NONE] = [{ method: 'topk' }, { method: 'none' }];

function opened() {
  const host = new ScriptedHost();
  const run = { run: 'run', switches: [] as { epoch: number }[], live: true };
  const form = new SwitchForm(host.connection.api, run);
  return {
    form,
    host,
    run,
    /** The order that waits for its answer. */
    ordered: () => host.next('order').args[1],
    accept: (epoch: number) =>
      host.next('order').answer({ switch: { epoch, notBefore: 7 } }),
    come: (epoch: number) => {
      run.switches.push({ epoch });
      form.follow();
    },
  };
}

test('the way back has neither the guard nor the residual of the switch before it', async () => {
  const { accept, come, form, ordered } = opened();
  form.guard = { step: 1.2 };
  form.residual = 'drop';
  void form.apply(TOPK, true);
  expect(ordered()).toMatchObject({ residual: 'drop', guard: { step: 1.2 } });
  await accept(1);
  expect(form.progress).toEqual({ kind: 'pending', epoch: 1, notBefore: 7 });
  come(1);
  expect(form).toMatchObject({
    guard: {},
    residual: 'flush',
    chosen: undefined,
    progress: { kind: 'idle' },
  });
  form.guard = { loss: 1.5 };
  form.residual = 'drop';
  void form.back(NONE);
  expect(ordered()).toEqual({ type: 'switch', change: NONE, residual: 'flush' });
});

test('an answer about the residual counts only where it is asked for', () => {
  const { form, ordered } = opened();
  form.residual = 'drop';
  void form.apply(TOPK, false);
  expect(ordered()).toMatchObject({ residual: 'flush' });
});

test('a refused switch keeps what was filled in, and one is ordered at a time', async () => {
  const { form, host } = opened();
  form.guard = { step: 1.2 };
  void form.apply(TOPK, true);
  void form.back(NONE);
  expect(host.waiting('order')).toHaveLength(1);
  await host.next('order').fail(REFUSED);
  expect(form).toMatchObject({ chosen: TOPK, guard: { step: 1.2 } });
  expect(form.progress.kind).toBe('refused');
  form.choose(NONE);
  expect(form.progress.kind).toBe('idle');
});

test('a record that came before the answer is not awaited, nor one of an ended run', async () => {
  const { accept, come, form, run } = opened();
  void form.apply(TOPK, true);
  come(1);
  await accept(1);
  expect(form.progress.kind).toBe('idle');
  void form.apply(TOPK, true);
  await accept(2);
  run.live = false;
  form.follow();
  expect(form.progress.kind).toBe('idle');
  // The end may be known before the answer.
  run.live = true;
  void form.apply(TOPK, true);
  run.live = false;
  form.follow();
  await accept(3);
  expect(form.progress.kind).toBe('idle');
});

test('a prediction is made again once the current plan is another', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const host = new ScriptedHost();
  const foresight = new SwitchForesight(host.connection.api, 'run');
  const still = (): void => void vi.advanceTimersByTime(500);
  foresight.consider(TOPK, 0);
  still();
  await host.next('order').answer({ tensors: [] });
  expect(foresight.state.kind).toBe('known');
  // The same question, as another object.
  foresight.consider({ ...TOPK }, 0);
  expect(foresight.state.kind).toBe('known');
  expect(foresight.isOf(TOPK, 0)).toBe(true);
  // Somebody else, or a guard, has switched.
  foresight.consider(TOPK, 1);
  expect(foresight.state.kind).toBe('asking');
  expect(foresight.isOf(TOPK, 0)).toBe(false);
  still();
  expect(host.waiting('order')).toHaveLength(1);
  foresight.consider(undefined, 1);
  expect(foresight.state.kind).toBe('none');
  await settle();
});

test('tensors are learnt of the current plan, once, where no switch is considered', async () => {
  const host = new ScriptedHost();
  const foresight = new SwitchForesight(host.connection.api, 'run');
  const refused = foresight.learnTensors(TOPK);
  await host.next('order').fail(new Error('no'));
  await refused;
  expect(foresight.tensors).toBeUndefined();
  const learning = foresight.learnTensors(TOPK);
  await foresight.learnTensors(TOPK);
  expect(host.waiting('order')).toHaveLength(1);
  await host.next('order').answer({ tensors: [{ name: 'layer1.bias', length: 4 }] });
  await learning;
  expect(foresight.tensors).toEqual([{ name: 'layer1.bias', length: 4 }]);
  expect(foresight.state.kind).toBe('none');
  await foresight.learnTensors(TOPK);
  expect(host.waiting('order')).toHaveLength(0);
});
