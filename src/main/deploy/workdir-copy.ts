/** Copies a program's working directory to a machine: only contents that are not there yet are sent. */
import { open } from 'node:fs/promises';
import path from 'node:path';
import { failure } from '../../shared/errors/errors.ts';
import type { DeployProgress } from '../../shared/machines/node-status.ts';
import type { SupervisorRequests } from '../../shared/protocol/supervisor.ts';
import {
  isLink,
  MOST_PUT_BYTES,
  type FilePiece,
  type TreeEntry,
} from '../../shared/protocol/work-tree.ts';

type CopyMethod = 'missingFiles' | 'putFiles' | 'makeTree';

/** The supervisor that gets the copy. */
export interface CopyTarget {
  request<M extends CopyMethod>(
    method: M,
    body: SupervisorRequests[M]['request'],
    deadlineMs?: number,
  ): Promise<SupervisorRequests[M]['reply']>;
}

export interface CopyOptions {
  readonly signal?: AbortSignal | undefined;
  readonly progress?: ((progress: DeployProgress) => void) | undefined;
}

/** A directory on a slow network disk takes its time. */
const COPY_MS = 300_000;
/** Most pieces of one request. */
const MOST_PIECES = 1000;

type TreeFile = Exclude<TreeEntry, { target: string }>;

/**
 * @param directory here
 * @param entries its files, from `workdirFiles`
 * @returns the name of the tree there
 * @throws GradwireError `WORKDIR_FILE_DAMAGED`: a file changed while it was read
 */
export async function copyWorkdir(
  target: CopyTarget,
  directory: string,
  entries: readonly TreeEntry[],
  { signal, progress }: CopyOptions = {},
): Promise<string> {
  const files = new Map<string, TreeFile>();
  for (const entry of entries) if (!isLink(entry)) files.set(entry.sha256, entry);
  const contents = [...files.values()].map(({ sha256, bytes }) => ({ sha256, bytes }));
  const { missing } = await target.request(
    'missingFiles',
    { files: contents },
    COPY_MS,
  );
  const wanted = missing.flatMap((sha256) => files.get(sha256) ?? []);
  const totalBytes = wanted.reduce((sum, { bytes }) => sum + bytes, 0);
  let doneBytes = 0;
  const told = (): void => {
    if (wanted.length === 0) return;
    progress?.({ step: 'upload', package: 'workdir', doneBytes, totalBytes });
  };
  told();
  for await (const pieces of batches(directory, wanted)) {
    signal?.throwIfAborted();
    await target.request('putFiles', { pieces }, COPY_MS);
    doneBytes += pieces.reduce((sum, { part }) => sum + part.length, 0);
    told();
  }
  signal?.throwIfAborted();
  const { tree } = await target.request('makeTree', { entries }, COPY_MS);
  return tree;
}

/** The pieces of each request: small ones, so that other requests get through in between. */
async function* batches(
  directory: string,
  files: readonly TreeFile[],
): AsyncGenerator<readonly FilePiece[]> {
  let batch: FilePiece[] = [];
  let bytes = 0;
  for (const file of files) {
    for await (const piece of pieces(directory, file)) {
      const { length } = piece.part;
      if (bytes + length > MOST_PUT_BYTES || batch.length === MOST_PIECES) {
        yield batch;
        batch = [];
        bytes = 0;
      }
      batch.push(piece);
      bytes += length;
    }
  }
  if (batch.length > 0) yield batch;
}

async function* pieces(
  directory: string,
  { path: name, sha256, bytes }: TreeFile,
): AsyncGenerator<FilePiece> {
  const place = path.join(directory, name);
  const handle = await open(place).catch(() => undefined);
  if (handle === undefined) throw changed(place);
  try {
    let offset = 0;
    do {
      const size = Math.min(MOST_PUT_BYTES, bytes - offset);
      const part = new Uint8Array(size);
      const { bytesRead } = await handle.read(part, 0, size, offset);
      if (bytesRead < size) throw changed(place);
      yield { sha256, bytes, offset, part };
      offset += size;
    } while (offset < bytes);
  } finally {
    await handle.close();
  }
}

const changed = (place: string): Error =>
  failure('WORKDIR_FILE_DAMAGED', `${place} changed while it was copied`, {
    next: 'Launch again.',
  });
