/**
 * Network profiles on disk, as JSON; the home's own is written atomically. Launches and
 * `gradwire plan` read them.
 */
import { readFileSync, statSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { replaceDurably } from '../../disk/durable-replacement.ts';
import {
  networkProfileSchema,
  parseNetworkProfile,
  type NetworkProfile,
} from '../../shared/cost-model/network-profile.ts';
import { inputError } from '../../shared/errors/errors.ts';
import { fileNotWritable } from '../../shared/errors/file-error.ts';
import { INTERPRETED } from '../../shared/checks/interpreted.ts';

/**
 * @returns undefined if there is no such file
 * @throws GradwireError `NETWORK_PROFILE_UNREADABLE`, `NETWORK_PROFILE_INVALID`,
 * `NETWORK_PROFILE_UNKNOWN_KEY`
 */
export async function loadNetworkProfile(
  file: string,
): Promise<NetworkProfile | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw unreadable(`cannot read ${file}: ${String(cause)}`, file);
  }
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch {
    throw unreadable(`${file} has no network profile: it is not JSON`, file);
  }
  return parseNetworkProfile(raw, file);
}

/** A profile on disk as it is now, read again when the file changes; one that cannot be read is none. */
export class WatchedProfile {
  readonly #file: string;
  #readAt: number | undefined;
  #profile: NetworkProfile | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  get current(): NetworkProfile | undefined {
    const changedAt = statSync(this.#file, { throwIfNoEntry: false })?.mtimeMs;
    if (changedAt !== this.#readAt) {
      this.#readAt = changedAt;
      this.#profile = changedAt === undefined ? undefined : this.#read();
    }
    return this.#profile;
  }

  #read(): NetworkProfile | undefined {
    try {
      const raw: unknown = JSON.parse(readFileSync(this.#file, 'utf8'));
      return networkProfileSchema.safeParse(raw, INTERPRETED).data;
    } catch {
      return undefined; // runs report it, with the next step
    }
  }
}

/** @throws GradwireError `OUTPUT_NOT_WRITABLE` */
export async function saveNetworkProfile(
  file: string,
  profile: NetworkProfile,
): Promise<void> {
  const text = `${JSON.stringify(networkProfileSchema.parse(profile, INTERPRETED), null, 2)}\n`;
  // A reader sees either the old or the new file.
  const unfinished = `${file}.${process.pid}`;
  try {
    await writeFile(unfinished, text, { mode: 0o600 });
    await replaceDurably(unfinished, file);
  } catch (cause) {
    throw fileNotWritable(file, cause);
  }
}

function unreadable(message: string, file: string): Error {
  return inputError('NETWORK_PROFILE_UNREADABLE', message, {
    place: file,
    next: 'Measure it again: gradwire bench network.',
  });
}
