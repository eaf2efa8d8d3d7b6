/**
 * Changes how the bundled jax-js (0.1.25) runs a compiled function; what it computes stays the
 * same, to the bit.
 *
 * - The steps of a function are put in an order that has use of it: what the first output needs,
 *   then the last, the last but one and so on. Of a loss with gradients that is the forward
 *   pass, then the backward pass from the last layer to the first.
 * - An output waits for the steps up to it. Unchanged, the first output that is read runs all
 *   steps. So gradients of the last layers can be sent while those of the first are computed
 *   (docs/decisions/046-exchanges-beside-the-trainer.md).
 * - On WebAssembly memory is taken and given back as the steps run. Unchanged, it is taken for
 *   all intermediate results in advance, and each further output looks through all steps again.
 *   On WebGPU that stays: there, steps run while the next are prepared.
 * - Where memory is given back is found in one pass over the steps, not in one for each.
 */
import type { Plugin } from 'vite';

const LIBRARY = /@jax-js\/jax\/dist\/index\.js$/;
/** The place where a compiled function has got its steps. */
const COMPILED = 'builder.insertFreeSteps(outputIds);';
/** The place where that function is called. */
const CALLED =
  'const { outputs, pending } = jitCompile(backend, jaxpr)' +
  '.execute(args.map((x) => x._realizeSource()));';
/** The place where a call counts by how many arrays each step is awaited. */
const COUNTED = 'for (const exe of pending) exe.updateRc(+outputs.length - 1);';
/** The place where a call adds what its arguments still wait for. */
const ADDED = 'pending.splice(0, 0, ...prevPending);';
/** The place where a call gives each of its outputs the steps that it awaits. */
const GIVEN = /(\tcommitted,\n\t+)pending(\n\t+\}\);\n\t+\}\);\n\t+\}\n\t+\};\n\t\}\n)/;

export function jaxPrograms(): Plugin {
  return {
    name: 'jax-programs',
    transform: {
      filter: { id: LIBRARY },
      // Where lines move they move behind what stack traces show.
      handler: (code) => ({ code: changed(code), map: null }),
    },
  };
}

function changed(code: string): string {
  const known =
    [COMPILED, CALLED, COUNTED].every((part) => code.split(part).length === 2) &&
    code.includes(ADDED) &&
    GIVEN.test(code);
  if (!known) {
    throw new Error(
      'jax-js runs functions in another way: see scripts/jax-programs.ts',
    );
  }
  const started =
    'startProgram(jitCompile(backend, jaxpr), args.map((x) => x._realizeSource()));';
  return [
    code
      .replace(COMPILED, 'builder.steps = arrangeSteps(builder.steps, outputIds);')
      .replace(CALLED, `const { outputs, awaited } = ${started}`)
      .replace(COUNTED, '')
      .replace(ADDED, '')
      .replace(GIVEN, '$1pending: [...prevPending, ...awaited[i]]$2'),
    ...[arrangeSteps, startProgram, runOnDemand, shareSteps].map(String),
  ].join('\n');
}

// What follows is a part of the library: its text is.

/** The library's; other steps are routines. */
declare const Kernel: new () => object;

type Step = (
  | { readonly type: 'malloc'; readonly size: number; readonly output: number }
  | {
      readonly type: 'execute';
      readonly inputs: readonly number[];
      readonly outputs: readonly number[];
      readonly source: object;
      executable?: object;
    }
  | { readonly type: 'incref' | 'free'; readonly input: number }
) & { readonly type: string };

/** Steps in the order of use, each with the memory that it needs before it and no longer. */
function arrangeSteps(steps: readonly Step[], outputs: readonly number[]): Step[] {
  const memory = new Map<number, Step>();
  const writers = new Map<number, Step>();
  for (const step of steps) {
    if (step.type === 'malloc') memory.set(step.output, step);
    if (step.type === 'execute') for (const id of step.outputs) writers.set(id, step);
  }
  const order: Step[] = [];
  const placed = new Set<Step>();
  const place = (ids: readonly number[]): void => {
    const found = new Set<Step>();
    const open = [...ids];
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      const step = writers.get(id);
      if (step?.type !== 'execute' || placed.has(step) || found.has(step)) continue;
      found.add(step);
      open.push(...step.inputs);
    }
    for (const step of steps) {
      if (!found.has(step)) continue;
      order.push(step);
      placed.add(step);
    }
  };
  for (const id of [...outputs.slice(0, 1), ...outputs.slice(1).reverse()]) place([id]);
  const lastUse = new Map<number, Step>();
  for (const step of order) {
    if (step.type !== 'execute') continue;
    for (const id of [...step.inputs, ...step.outputs]) lastUse.set(id, step);
  }
  for (const id of outputs) lastUse.delete(id);
  const arranged = order.flatMap((step): Step[] => {
    if (step.type !== 'execute') return [step];
    const ended = [...new Set([...step.inputs, ...step.outputs])].filter(
      (id) => memory.has(id) && lastUse.get(id) === step,
    );
    return [
      ...step.outputs.map((id) => memory.get(id)!),
      step,
      ...ended.map((input): Step => ({ type: 'free', input })),
    ];
  });
  return [...arranged, ...steps.filter(({ type }) => type === 'incref')];
}

interface Awaited {
  readonly submitted: boolean;
  prepare(): Promise<void>;
  prepareSync(): void;
  submit(): void;
  /** Changes the number of arrays that await it, which is 1 at the beginning. */
  updateRc(delta: number): void;
}

interface Backend {
  readonly type: string;
  malloc(size: number): number;
  incRef(slot: number): void;
  decRef(slot: number): void;
  prepareKernelSync(source: object): object;
  prepareRoutineSync(source: object): object;
  dispatch(executable: object, inputs: number[], outputs: number[]): void;
}

interface Program {
  readonly backend: Backend;
  readonly steps: readonly Step[];
  readonly inputs: readonly number[];
  readonly outputs: readonly number[];
  execute(inputs: readonly number[]): { outputs: number[]; pending: StepOnDevice[] };
}

type StepOnDevice = Awaited & { readonly outputs: readonly number[] };

interface Started {
  readonly outputs: readonly number[];
  /** Awaited steps, by output. */
  readonly awaited: readonly (readonly Awaited[])[];
}

function startProgram(program: Program, inputs: readonly number[]): Started {
  if (program.backend.type === 'wasm') return runOnDemand(program, inputs);
  const { outputs, pending } = program.execute(inputs);
  return { outputs, awaited: shareSteps(outputs, pending) };
}

/** Steps run when an output is read, up to that one. */
function runOnDemand(program: Program, inputs: readonly number[]): Started {
  const { backend, steps } = program;
  const slots = new Map<number, number>();
  /** Kept until all has run, or nobody waits for the rest. */
  const kept: number[] = [];
  const keep = (id: number, slot: number): void => {
    slots.set(id, slot);
    backend.incRef(slot);
    kept.push(slot);
  };
  program.inputs.forEach((id, i) => {
    keep(id, inputs[i]!);
  });
  const isOutput = new Set(program.outputs);
  const needs = new Map<number, number>();
  steps.forEach((step, at) => {
    if (step.type === 'malloc' && isOutput.has(step.output)) {
      keep(step.output, backend.malloc(step.size));
    } else if (step.type === 'incref') backend.incRef(slots.get(step.input)!);
    else if (step.type === 'execute') {
      for (const id of step.outputs) needs.set(id, at + 1);
    }
  });
  const live = new Map<number, number>();
  let at = 0;
  const advance = (to: number): void => {
    for (; at < to; at++) {
      const step = steps[at]!;
      if (step.type === 'malloc' && !isOutput.has(step.output)) {
        const slot = backend.malloc(step.size);
        slots.set(step.output, slot);
        live.set(step.output, slot);
      } else if (step.type === 'execute') {
        step.executable ??=
          step.source instanceof Kernel
            ? backend.prepareKernelSync(step.source)
            : backend.prepareRoutineSync(step.source);
        const slotOf = (id: number): number => slots.get(id)!;
        backend.dispatch(
          step.executable,
          step.inputs.map(slotOf),
          step.outputs.map(slotOf),
        );
      } else if (step.type === 'free') {
        backend.decRef(slots.get(step.input)!);
        live.delete(step.input);
      }
    }
  };
  let open = 0;
  const close = (): void => {
    if (--open > 0) return;
    for (const slot of [...kept, ...live.values()]) backend.decRef(slot);
  };
  const awaited = program.outputs.map((id): Awaited[] => {
    const need = needs.get(id);
    if (need === undefined) return [];
    open++;
    let arrays = 1;
    let submitted = false;
    return [
      {
        get submitted() {
          return submitted;
        },
        prepare: () => Promise.resolve(),
        prepareSync: () => undefined,
        submit: () => {
          if (submitted) return;
          try {
            advance(need);
          } finally {
            submitted = true;
            close();
          }
        },
        updateRc: (delta) => {
          arrays += delta;
          if (arrays === 0 && !submitted) close();
        },
      },
    ];
  });
  if (open === 0) {
    open = 1;
    close();
  }
  return { outputs: program.outputs.map((id) => slots.get(id)!), awaited };
}

/** The steps up to each output. */
function shareSteps(
  outputs: readonly number[],
  steps: readonly StepOnDevice[],
): StepOnDevice[][] {
  const last = new Map<number, number>();
  steps.forEach((step, at) => {
    for (const slot of step.outputs) last.set(slot, at + 1);
  });
  const counts = outputs.map((slot) => last.get(slot) ?? 0);
  const ends = steps.map(() => 0);
  for (const count of counts) if (count > 0) ends[count - 1]! += 1;
  let arrays = 0;
  for (let at = steps.length - 1; at >= 0; at--) {
    arrays += ends[at]!;
    // Dropped with the last array that awaits it; at once if there is none.
    steps[at]!.updateRc(arrays - 1);
  }
  return counts.map((count) => steps.slice(0, count));
}
