/**
 * A kind of parallelism: how ranks share the work of training. Each is one definition, from which
 * come the keys of `parallelism` in a spec, the form's fields, the reference and the checks before
 * a launch; the steps of a rank are the other half (`agent/worker/steps`).
 */
import type { z } from 'zod';

/** A setting that a kind cannot have. */
export interface Misfit {
  /** The key to blame, as in `optimizer.kind`. */
  readonly place: string;
  readonly message: string;
  /** The next step. */
  readonly next: string;
}

/** The settings of a spec that kinds look at. */
export interface SharedWork {
  readonly world: { readonly ranks: number };
  readonly workload: {
    readonly model?: string | undefined;
    readonly batchPerRank: number;
  };
  readonly optimizer: {
    readonly kind: string;
    readonly clipNorm?: number | undefined;
    readonly clipAt?: string | undefined;
    readonly fullGradientEvery?: number | undefined;
  };
  readonly backend?: string | undefined;
  readonly engine?: string | undefined;
  readonly overlap?: boolean | undefined;
  readonly doubleBuffer?: boolean | undefined;
  readonly compareEvery?: number | undefined;
  readonly parallelism?: object | undefined;
}

export interface ParallelismKind<Keys extends z.ZodRawShape = z.ZodRawShape> {
  readonly id: string;
  /** One line for the form and the reference. */
  readonly hint: string;
  /** The same, shorter, for the description of `kind`. */
  readonly brief: string;
  /** Behaviour of ranks in place of what another kind's key asks for. */
  readonly instead: string;
  /** Keys that only this kind has, all optional; a title gives a key its field in the form. */
  readonly keys: Keys;
  /** The settings that do not fit, the first to blame first. */
  misfits(spec: SharedWork): readonly Misfit[];
  /** Reason that gradients cannot be corrected by full ones (`optimizer.fullGradientEvery`), if so. */
  readonly uncorrected?: string;
  /** Reason that its ranks cannot be stages of a pipeline, if so. */
  readonly unsplittable?: Omit<Misfit, 'place'>;
  /** Reason that its residual cannot be kept in units of updates, if so. */
  readonly withoutUpdates?: Omit<Misfit, 'place'>;
  /** Reason that `gradwire plan` cannot predict it, if so. */
  readonly unpredictable?: Omit<Misfit, 'place'>;
  /** Reason that its iterations cannot be traced, if so. */
  readonly untraceable?: string;
}

/** The name of the model that draws its gradients. */
export const SYNTHETIC = 'synthetic-gradient';

/** The key that asks for an exchange beside the computation, if any. */
export const keyBeside = ({
  doubleBuffer,
  overlap,
}: SharedWork): 'doubleBuffer' | 'overlap' | undefined =>
  overlap === true ? 'overlap' : doubleBuffer === true ? 'doubleBuffer' : undefined;

/** Exchanges that go on beside the computation, which a kind has no use for. */
export function beside(spec: SharedWork, message: string): readonly Misfit[] {
  const place = keyBeside(spec);
  if (place === undefined) return [];
  return [{ place, message, next: 'Remove it, or use parallelism.kind: synchronous.' }];
}

/** A gradient that moves no weights. */
export function drawn({ workload }: SharedWork, message: string): readonly Misfit[] {
  if (workload.model !== SYNTHETIC) return [];
  const next = 'Train a model, or use parallelism.kind: synchronous.';
  return [{ place: 'workload.model', message, next }];
}
