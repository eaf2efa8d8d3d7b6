/** The work of `gradwire compress`: a vector file to a payload file, as one rank alone. */
import {
  findMethod,
  LoneRank,
  openBackend,
  packPayload,
  packRankState,
  refuseIdle,
  unpackRankState,
  validateParameters,
  type BackendName,
  type StateFile,
} from '../../agent/engine.ts';
import { inputError } from '../../shared/errors/errors.ts';
import type { JsonObject } from '../../shared/checks/json.ts';
import {
  assertApart,
  placedAt,
  readStateIfPresent,
  readVector,
  replaceFile,
  writeOutput,
} from './vector-file.ts';

export interface CompressTask {
  readonly method: string;
  readonly parameters: JsonObject;
  readonly backend: BackendName;
  readonly in: string;
  readonly out: string;
  /** Carries residual and method state from call to call. */
  readonly state?: string | undefined;
  /** Default: one dimension, of all elements. */
  readonly shape?: readonly number[] | undefined;
  /**
   * The random seed. Seed, rank and iteration default to those of the state; without one to
   * 1, 0 and 0.
   */
  readonly seed?: number | undefined;
  readonly rank?: number | undefined;
  readonly iteration?: number | undefined;
}

/** The output of `--json`. */
export interface CompressReport {
  readonly method: string;
  readonly n: number;
  /** Bytes of the file that was written. */
  readonly bytes: number;
  readonly payloadBytes: number;
  /** Entries kept; absent where the method does not count them. */
  readonly nnz?: number | undefined;
  /** Time of the method's encode alone. */
  readonly ms: number;
  readonly kind: string;
  readonly backend: BackendName;
  readonly seed: number;
  readonly rank: number;
  readonly iteration: number;
}

/** @throws GradwireError of the files, the method and its parameters, the state */
export async function compressFile(task: CompressTask): Promise<CompressReport> {
  await assertApart(task.out, [task.in, task.state]);
  if (task.state !== undefined) await assertApart(task.state, [task.in]);
  const values = await readVector(task.in);
  const saved = await readState(task.state);
  const known = saved?.provenance;
  const iteration = task.iteration ?? known?.iteration ?? 0;
  const method = findMethod(task.method);
  const given = new Set(Object.keys(task.parameters));
  refuseIdle(method, validateParameters(method, task.parameters), given);
  using backend = await openBackend(task.backend);
  using rank = new LoneRank({
    method: task.method,
    parameters: task.parameters,
    shape: shapeOf(task, values.length, known?.shape),
    seed: task.seed ?? known?.seed,
    rank: task.rank ?? known?.rank,
    backend,
  });
  if (saved !== undefined) {
    await placedAt(task.state!, () => {
      rank.restore(saved);
    });
  }
  const compressed = await placedAt(task.in, () => rank.compress(values, iteration));
  const provenance = rank.provenance(iteration);
  const { payload } = compressed;
  const file = packPayload({ provenance, payload });
  await writeOutput(task.out, file);
  if (task.state !== undefined) {
    const next = rank.provenance(iteration + 1);
    await replaceFile(
      task.state,
      packRankState({ provenance: next, state: await rank.save() }),
    );
  }
  return {
    method: provenance.method,
    n: provenance.n,
    bytes: file.length,
    payloadBytes: payload.length,
    ...(compressed.nnz === undefined ? {} : { nnz: compressed.nnz }),
    ms: compressed.milliseconds,
    kind: compressed.kind,
    backend: task.backend,
    seed: provenance.seed,
    rank: provenance.rank,
    iteration,
  };
}

async function readState(file: string | undefined): Promise<StateFile | undefined> {
  if (file === undefined) return undefined;
  const bytes = await readStateIfPresent(file);
  return bytes && (await placedAt(file, () => unpackRankState(bytes)));
}

/** @throws GradwireError `SHAPE_INVALID` */
function shapeOf(
  { shape, in: place }: CompressTask,
  length: number,
  known: readonly number[] | undefined,
): readonly number[] {
  if (shape === undefined) {
    const fits = known?.reduce((product, side) => product * side, 1) === length;
    return fits ? known! : [length];
  }
  if (shape.reduce((product, side) => product * side, 1) === length) return shape;
  throw inputError(
    'SHAPE_INVALID',
    `a tensor of ${shape.join('×')} does not have ${length} elements`,
    {
      place,
      next: 'Give a --shape such as 784x200 whose product is the number of elements in the file.',
    },
  );
}
