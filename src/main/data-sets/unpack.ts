/** Extracts files from a gzipped tar. Only files requested by name are written. */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';
import { replaceDurably } from '../../disk/durable-replacement.ts';
import type { PublicFile } from './public-sets.ts';

/**
 * @param folder the files' folder in the archive
 * @param directory the destination; files get their names when their SHA-256 is right
 * @returns files that were missing or wrong
 */
export async function unpack(
  archive: string,
  folder: string,
  files: readonly PublicFile[],
  directory: string,
  signal: AbortSignal,
): Promise<readonly PublicFile[]> {
  const missing = new Map(files.map((file) => [`${folder}/${file.name}`, file]));
  const entries = extract();
  const unpacked = pipeline(createReadStream(archive), createGunzip(), entries, {
    signal,
  });
  // An iteration that ends early destroys the stream: the pipeline's error is the cause.
  unpacked.catch(() => undefined);
  for await (const entry of entries) {
    const name = path.posix.normalize(entry.header.name);
    const file = missing.get(name);
    if (file === undefined) entry.resume();
    else if (await store(entry as AsyncIterable<Uint8Array>, file, directory))
      missing.delete(name);
  }
  await unpacked;
  return [...missing.values()];
}

async function store(
  content: AsyncIterable<Uint8Array>,
  { name, sha256 }: PublicFile,
  directory: string,
): Promise<boolean> {
  const place = path.join(directory, name);
  const hash = createHash('sha256');
  await pipeline(
    content,
    new Transform({
      transform(chunk: Buffer, _encoding, done) {
        hash.update(chunk);
        done(null, chunk);
      },
    }),
    createWriteStream(`${place}.part`),
  );
  const isRight = hash.digest('hex') === sha256;
  if (isRight) await replaceDurably(`${place}.part`, place);
  else await rm(`${place}.part`);
  return isRight;
}
