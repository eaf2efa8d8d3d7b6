/**
 * A model from a file of the user's own: one TypeScript or JavaScript module whose default
 * export is a model's definition. Its text is part of the spec, so that every rank runs
 * what was launched, even if the file changes.
 */
import { stripTypeScriptTypes } from 'node:module';
import { GradwireError, inputError } from '../../../shared/errors/errors.ts';
import { isModelFile } from '../../../shared/spec/model-name.ts';
import type { Tally } from '../metrics/metric.ts';
import { asModel, modelFault, type ModelDefinition } from './definition.ts';
import { refuseExitCalls } from './exit-calls.ts';
import { isLayered, layered } from './layered.ts';
import type { Model } from './model.ts';

export interface ModelSource {
  /** The file, as errors name it. */
  readonly name: string;
  readonly code: string;
}

/** The file of a workload; undefined for built-in models. */
export function ownSource({
  model: name,
  modelSource: code,
}: {
  readonly model: string;
  readonly modelSource?: string | undefined;
}): ModelSource | undefined {
  return code === undefined || !isModelFile(name) ? undefined : { name, code };
}

/**
 * Runs the module.
 * @throws GradwireError `MODEL_FILE_INVALID`: the error, as far as it shows before
 * anything is computed
 */
export async function loadModelFile({ name, code }: ModelSource): Promise<Model> {
  const url = `data:text/javascript,${encodeURIComponent(plainJavaScript(name, code))}`;
  let exported: { readonly default?: unknown };
  refuseExitCalls(name);
  try {
    exported = (await import(url)) as typeof exported;
  } catch (error) {
    throw invalidModelFile(name, reasonOf(error, name));
  }
  loaded.add(name);
  const definition = exported.default;
  if (definition === undefined)
    throw invalidModelFile(name, 'it has no default export');
  return modelFrom(definition, name);
}

/** @throws GradwireError `MODEL_FILE_INVALID`, also where a property cannot be read */
function modelFrom(definition: unknown, name: string): Model {
  try {
    const fault = modelFault(definition);
    if (fault !== undefined) throw invalidModelFile(name, fault);
    return guarded(asModel(definition as ModelDefinition), name);
  } catch (error) {
    throw modelFileFault(error, name);
  }
}

/** The files whose modules this thread has run. */
const loaded = new Set<string>();

/** Makes what was thrown an error of a model's file, if that file's code stands in the trace. */
export function thrownByModelFile(thrown: unknown): unknown {
  if (thrown instanceof GradwireError || !(thrown instanceof Error)) return thrown;
  const { stack = '' } = thrown;
  const name = [...loaded].find((each) => stack.includes(encodeURI(each)));
  return name === undefined ? thrown : modelFileFault(thrown, name);
}

/** An error that nothing but this file can have caused. */
export function modelFileFault(thrown: unknown, name: string): GradwireError {
  if (thrown instanceof GradwireError) return thrown;
  return invalidModelFile(name, reasonOf(thrown, name));
}

/** Errors in the user's functions name their file. */
function guarded(model: Model, name: string): Model {
  const guard =
    <A extends unknown[], R>(call: (...given: A) => R, where = '') =>
    (...given: A): R => {
      try {
        return call(...given);
      } catch (error) {
        throw invalidModelFile(name, where + reasonOf(error, name));
      }
    };
  const tensors = model.tensors.map((tensor) => {
    const { initialize } = tensor;
    if (typeof initialize !== 'function') return tensor;
    const where = `initialize of its tensor "${tensor.name}": `;
    return { ...tensor, initialize: guard(initialize, where) };
  });
  const given = model.metric.tally;
  const tally: Tally | undefined = given && {
    ...given,
    of: guard((...what) => given.of(...what)),
  };
  const metric = { ...model.metric, tally };
  if (!isLayered(model)) {
    return {
      ...model,
      metric,
      tensors,
      objective: guard((...what) => model.objective(...what)),
    };
  }
  const { head, layers } = model;
  // The whole model's objective is made of these.
  return layered({
    ...model,
    metric,
    tensors,
    layers: layers.map((layer) => ({
      ...layer,
      apply: guard((...what) => layer.apply(...what)),
    })),
    head: { ...head, objective: guard((...what) => head.objective(...what)) },
  });
}

function plainJavaScript(name: string, code: string): string {
  // Node would log each time that this is experimental.
  const warns: { emitWarning: unknown } = process;
  const { emitWarning } = warns;
  warns.emitWarning = () => undefined;
  try {
    return `${stripTypeScriptTypes(code)}\n//# sourceURL=${encodeURI(name)}`;
  } catch (error) {
    throw invalidModelFile(name, reasonOf(error, name));
  } finally {
    warns.emitWarning = emitWarning;
  }
}

/** An error of the user's code in a line, with the place in the file where there is one. */
function reasonOf(error: unknown, name: string): string {
  if (error instanceof GradwireError) return error.message;
  if (!(error instanceof Error)) return `it throws ${String(error)}`;
  const { message, stack = '' } = error;
  const imported = /module specifier "([^"]+)"|Cannot find \w+ '([^']+)'/.exec(message);
  if (imported !== null) {
    const what = imported[1] ?? imported[2]!;
    return `it imports "${what}"; a model is a single file that may import only types and Node’s modules`;
  }
  // What removes the types names the line at the head of its trace.
  const line =
    /^:(\d+)\n/.exec(stack)?.[1] ??
    stack
      .split('\n')
      .find((frame) => frame.includes(encodeURI(name)))
      ?.match(/:(\d+):\d+\)?$/)?.[1];
  return (line === undefined ? '' : `line ${line}: `) + message.split('\n')[0]!;
}

export function invalidModelFile(name: string, reason: string): GradwireError {
  return inputError('MODEL_FILE_INVALID', `${name}: ${reason}`, {
    place: 'workload.model',
    next: 'Correct the file; see docs/models.md for what a model needs.',
  });
}
