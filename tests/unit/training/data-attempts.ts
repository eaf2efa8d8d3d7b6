/** Data files, good and bad, each with what must come of it. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type {
  Dataset,
  ShardRequest,
} from '../../../src/agent/training/datasets/dataset.ts';
import { datasets } from '../../../src/agent/training/datasets/registry.ts';
import { formatError, toErrorData } from '../../../src/shared/errors/errors.ts';
import { temporaryDirectory } from './idx-fixtures.ts';

export interface Attempt {
  readonly dataset: string;
  /** Contents by name, or what is no file. */
  readonly files?: Readonly<Record<string, string | Uint8Array | 'DIRECTORY' | 'PIPE'>>;
  /** Of the file or directory in the spec; undefined for none. */
  readonly name?: string | undefined;
  readonly request?: Partial<ShardRequest> | undefined;
  /** Words of the error, or of the notice. */
  readonly says?: string;
  /** Samples in both parts, of what is read. */
  readonly parts?: readonly [train: number, test: number];
  /** Instead of looking at the data and opening it. */
  readonly work?: (file: string) => void;
}

/** By section and first cell of a row in docs/data.md. */
export type Attempts = Readonly<
  Record<string, Readonly<Record<string, readonly Attempt[]>>>
>;

/** One file, `some.data`. */
export function file(
  dataset: string,
  content: string | Uint8Array,
  more: Omit<Partial<Attempt>, 'dataset'> = {},
): Attempt {
  const name = more.name ?? 'some.data';
  return { ...more, dataset, name, files: { ...more.files, [name]: content } };
}

/** A directory of files. */
export const directory = (
  dataset: string,
  files: Attempt['files'],
  more: Partial<Attempt> = {},
): Attempt => ({ ...more, dataset, files: files ?? {}, name: '.' });

export interface Outcome {
  /** `read`, or the code of an error. */
  readonly code: string;
  /** The error, or the notice. */
  readonly text: string;
  readonly kind?: string;
  readonly parts?: readonly [train: number, test: number];
}

/** Looks at the data, then opens it as a rank does. */
export async function outcomeOf({
  dataset: id,
  files = {},
  name,
  request = {},
  work,
}: Attempt): Promise<Outcome> {
  const root = temporaryDirectory();
  for (const [each, content] of Object.entries(files)) {
    const place = path.join(root, each);
    mkdirSync(path.dirname(place), { recursive: true });
    if (content === 'DIRECTORY') mkdirSync(place);
    else if (content === 'PIPE') execFileSync('mkfifo', [place]);
    else writeFileSync(place, content);
  }
  const place = name === undefined ? undefined : path.join(root, name);
  const dataset: Dataset = datasets.get(id)!;
  const asked = { inputs: {}, directory: place, ...request };
  try {
    if (work !== undefined) work(place!);
    const features = asked.features ?? dataset.features?.(place);
    const size = dataset.inspect({ ...asked, features });
    const shard = await dataset.open({
      rank: 0,
      world: 1,
      ...asked,
      features,
    });
    return {
      code: 'read',
      text: size.notice ?? '',
      parts: [shard.train.count, shard.test.count],
    };
  } catch (error) {
    const data = toErrorData(error);
    return {
      code: data.code,
      kind: data.kind,
      text: formatError(data).replaceAll(`${root}${path.sep}`, ''),
    };
  }
}
