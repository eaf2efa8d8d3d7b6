/**
 * Lets an output of a function that jax-js has compiled be read as soon as the steps that it
 * needs have run; the library runs all steps of the function first. And it puts the steps of a
 * function in an order that has use of it: what the first output needs, then the last, the last
 * but one and so on. Of a loss with gradients that is the forward pass, then the backward pass
 * layer by layer, so that gradients of the last layers can be sent while those of the first are
 * being computed. Results keep their bits.
 */
import type { Plugin } from 'vite';

const LIBRARY = /@jax-js\/jax\/dist\/index\.js$/;
/** Where a compiled function gets its steps. */
const COMPILED = 'builder.insertFreeSteps(outputIds);';
/** Where a call of it counts by how many arrays its steps are awaited. */
const COUNTED = 'for (const exe of pending) exe.updateRc(+outputs.length - 1);';
/** Where the call gives each of its outputs the steps that it awaits. */
const GIVEN = /(\tcommitted,\n\t+)pending(\n\t+\}\);\n\t+\}\);\n\t+\}\n\t+\};\n\t\}\n)/;

export function jaxReadyOutputs(): Plugin {
  return {
    name: 'jax-ready-outputs',
    transform: {
      filter: { id: LIBRARY },
      handler: (code) => ({ code: withReadyOutputs(code), map: null }),
    },
  };
}

function withReadyOutputs(code: string): string {
  const start = code.indexOf('["jit"](args, { jaxpr }) {\n\t\t\t\tif (');
  const call = code.slice(start);
  const occurOnce = [code.split(COMPILED), call.split(COUNTED)].every(
    (parts) => parts.length === 2,
  );
  if (start < 0 || !occurOnce || !GIVEN.test(call)) {
    throw new Error(
      'jax-js orders or counts the steps of a function in another way: see ' +
        'scripts/jax-ready-outputs.ts',
    );
  }
  const ordered = `builder.steps = (${orderSteps.toString()})(builder.steps, outputIds);`;
  const shared = `const own = (${shareSteps.toString()})(outputs, pending);`;
  return (
    code.slice(0, start).replace(COMPILED, `${ordered} ${COMPILED}`) +
    call
      .replace(COUNTED, shared)
      .replace(GIVEN, '$1pending: [...prevPending, ...own[i]]$2')
  );
}

// What follows runs within the library, and uses nothing but its own arguments.

type CompiledStep =
  | { readonly type: 'malloc'; readonly output: number }
  | {
      readonly type: 'execute';
      readonly inputs: readonly number[];
      readonly outputs: readonly number[];
    }
  | { readonly type: 'incref'; readonly input: number };

/** Before it is decided where memory is freed. */
function orderSteps(
  steps: readonly CompiledStep[],
  outputs: readonly number[],
): CompiledStep[] {
  const writers = new Map<number, CompiledStep>();
  for (const step of steps) {
    if (step.type === 'execute') for (const id of step.outputs) writers.set(id, step);
  }
  const wanted = new Set<CompiledStep>();
  const order: CompiledStep[] = steps.filter((step) => step.type === 'malloc');
  for (const output of [...outputs.slice(0, 1), ...outputs.slice(1).reverse()]) {
    const found = new Set<CompiledStep>();
    const open = [output];
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      const step = writers.get(id);
      if (step?.type !== 'execute' || wanted.has(step) || found.has(step)) continue;
      found.add(step);
      open.push(...step.inputs);
    }
    order.push(...steps.filter((step) => found.has(step)));
    for (const step of found) wanted.add(step);
  }
  // What no output needs, and the rest that is no step of computing.
  const placed = new Set(order);
  return [...order, ...steps.filter((step) => !placed.has(step))];
}

interface PendingStep {
  readonly outputs: readonly number[];
  /** By how many more arrays, or fewer, it is awaited: one, to begin with. */
  updateRc(delta: number): void;
}

/** The steps up to each output. */
function shareSteps(
  outputs: readonly number[],
  steps: readonly PendingStep[],
): PendingStep[][] {
  const last = new Map<number, number>();
  steps.forEach((step, at) => step.outputs.forEach((slot) => last.set(slot, at + 1)));
  const counts = outputs.map((slot) => last.get(slot) ?? 0);
  const ends = steps.map(() => 0);
  for (const count of counts) if (count > 0) ends[count - 1]! += 1;
  let awaited = 0;
  for (let at = steps.length - 1; at >= 0; at--) {
    awaited += ends[at]!;
    // Dropped with the last array that awaits it; at once if there is none.
    steps[at]!.updateRc(awaited - 1);
  }
  return counts.map((count) => steps.slice(0, count));
}
