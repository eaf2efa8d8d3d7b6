/**
 * A package as one compressed file (tar, gzip), kept in the home by its hash, so that
 * the same files are packed once for all nodes. Its bytes depend only on the files.
 */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';
import { z } from 'zod';
import { makeDirectory } from '../../disk/make-directory.ts';
import { replaceDurably } from '../../disk/durable-replacement.ts';
import { fileNotWritable } from '../../shared/errors/file-error.ts';
import { sha256Of } from '../home/file-hash.ts';
import { hashOf, sumsOf, type PackageFile } from './package-files.ts';

export interface PackageArchive {
  readonly kind: 'agent' | 'runtime';
  /** Hash of the package's contents: its name on every node. */
  readonly hash: string;
  readonly file: string;
  readonly bytes: number;
  /** SHA-256 of the archive itself, hexadecimal, which the node verifies. */
  readonly sha256: string;
  /** SHA-256 of each file in it, by name. */
  readonly sums: Readonly<Record<string, string>>;
}

/** Number of archives kept of each kind. */
const KEPT = 3;

/** Archives being packed by this process, by note, so that machines share them. */
const underWay = new Map<string, Promise<PackageArchive>>();

const noteSchema = z.object({
  hash: z.string(),
  bytes: z.number(),
  sha256: z.string(),
  sums: z.record(z.string(), z.string()),
});

/**
 * @param directory where archives are kept
 * @throws GradwireError `OUTPUT_NOT_WRITABLE`
 */
export async function packArchive(
  kind: PackageArchive['kind'],
  files: readonly PackageFile[],
  directory: string,
): Promise<PackageArchive> {
  const note = path.join(directory, `${kind}-${await stampOf(files)}.json`);
  const packing =
    underWay.get(note) ??
    packOnce(kind, files, note).finally(() => underWay.delete(note));
  underWay.set(note, packing);
  return packing;
}

async function packOnce(
  kind: PackageArchive['kind'],
  files: readonly PackageFile[],
  note: string,
): Promise<PackageArchive> {
  const directory = path.dirname(note);
  const known = await readNote(note);
  if (known !== undefined) {
    const file = path.join(directory, `${kind}-${known.hash}.tar.gz`);
    const found = await stat(file).catch(() => undefined);
    if (found?.size === known.bytes) return { ...known, kind, file };
  }
  const sums = await sumsOf(files);
  const hash = hashOf(files, sums);
  const file = path.join(directory, `${kind}-${hash}.tar.gz`);
  await write(file, files);
  const { size: bytes } = await stat(file);
  const made = { hash, bytes, sha256: await sha256Of(file), sums };
  await writeFile(note, JSON.stringify(made));
  await forgetOld(kind, directory);
  return { ...made, kind, file };
}

/** A stamp of names, sizes and times: while it is unchanged, nothing is read again. */
async function stampOf(files: readonly PackageFile[]): Promise<string> {
  const hash = createHash('sha256');
  for (const { name, source } of files) {
    const { size, mtimeMs, ino } = await stat(source);
    hash.update(`${name} ${source} ${size} ${mtimeMs} ${ino}\n`);
  }
  return hash.digest('hex').slice(0, 16);
}

async function readNote(file: string): Promise<z.infer<typeof noteSchema> | undefined> {
  try {
    return noteSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    return undefined; // missing or damaged: it is made again
  }
}

async function write(file: string, files: readonly PackageFile[]): Promise<void> {
  const draft = `${file}.${process.pid}.tmp`;
  try {
    await makeDirectory(path.dirname(file), 0o700);
    const archive = pack();
    const written = pipeline(archive, createGzip(), createWriteStream(draft));
    await Promise.all([written, fill(archive, files)]);
    await replaceDurably(draft, file);
  } catch (cause) {
    await rm(draft, { force: true }).catch(() => undefined); // the original error says more
    throw fileNotWritable(file, cause);
  }
}

async function fill(
  archive: ReturnType<typeof pack>,
  files: readonly PackageFile[],
): Promise<void> {
  for (const { name, source, executable } of files) {
    const { size } = await stat(source);
    const mode = executable ? 0o755 : 0o644;
    const entry = archive.entry({
      name,
      size,
      mode,
      mtime: new Date(0),
      uid: 0,
      gid: 0,
    });
    await pipeline(createReadStream(source), entry);
  }
  archive.finalize();
}

async function forgetOld(kind: string, directory: string): Promise<void> {
  const names = (await readdir(directory)).filter(
    (name) => name.startsWith(`${kind}-`) && name.endsWith('.tar.gz'),
  );
  const aged = await Promise.all(
    names.map(async (name) => {
      const file = path.join(directory, name);
      return { file, at: (await stat(file)).mtimeMs };
    }),
  );
  const old = aged.toSorted((a, b) => b.at - a.at).slice(2 * KEPT);
  await Promise.all(old.map(({ file }) => rm(file, { force: true })));
}
