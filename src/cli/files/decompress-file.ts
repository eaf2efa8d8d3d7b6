/** The work of `gradwire decompress`: a payload file to the vector that it encodes. */
import {
  LoneRank,
  openBackend,
  unpackPayload,
  type BackendName,
} from '../../agent/engine.ts';
import {
  assertApart,
  bytesOf,
  placedAt,
  readInput,
  readVector,
  writeOutput,
} from './vector-file.ts';

export interface DecompressTask {
  readonly backend: BackendName;
  readonly in: string;
  readonly out: string;
  /** The file that was compressed, for methods that leave a part of it on the rank. */
  readonly gradient?: string | undefined;
}

/** The output of `--json`. */
export interface DecompressReport {
  readonly method: string;
  readonly n: number;
  /** Bytes of the file that was read. */
  readonly bytes: number;
  readonly payloadBytes: number;
  readonly ms: number;
  readonly backend: BackendName;
  readonly seed: number;
  readonly rank: number;
  readonly iteration: number;
}

/** @throws GradwireError of the files and of what is in them */
export async function decompressFile(task: DecompressTask): Promise<DecompressReport> {
  await assertApart(task.out, [task.in, task.gradient]);
  const file = await readInput(task.in);
  const { provenance, payload } = await placedAt(task.in, () => unpackPayload(file));
  const gradient =
    task.gradient === undefined ? undefined : await readVector(task.gradient);
  const { method, parameters, shape, seed, rank, iteration } = provenance;
  using backend = await openBackend(task.backend);
  const [values, ms] = await placedAt(task.in, async () => {
    using lone = new LoneRank({
      method,
      parameters,
      shape,
      seed,
      rank,
      backend,
    });
    const start = performance.now();
    const decoded = await lone.decompress(payload, iteration, gradient);
    return [decoded, performance.now() - start] as const;
  });
  await writeOutput(task.out, bytesOf(values));
  return {
    method,
    n: provenance.n,
    bytes: file.length,
    payloadBytes: payload.length,
    ms,
    backend: task.backend,
    seed,
    rank,
    iteration,
  };
}
