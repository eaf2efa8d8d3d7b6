/**
 * One file over HTTP, from the first mirror that has it: what arrived before a connection
 * broke is kept beside the file (`NAME.part`) and gone on from, here or at the next mirror.
 * The file gets its name when its SHA-256 is right, and never before.
 */
import { open, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { EnvHttpProxyAgent, fetch, type Response } from 'undici';
import { fileNotWritable } from '../../shared/file-error.ts';
import { sha256Of } from '../home/file-hash.ts';
import type { PublicFile } from './public-sets.ts';

export interface DownloadOptions {
  readonly signal: AbortSignal;
  /** Bytes of the file that have arrived, now and before. */
  readonly arrived: (bytes: number) => void;
  /** How long a server may send nothing. */
  readonly silenceMs: number;
}

/**
 * Through a proxy where HTTP_PROXY, HTTPS_PROXY and NO_PROXY say so. The fetch of Node itself
 * ends the process where a server closes a connection whose answer has not been read to its
 * end (undici's issue 5360, mended in its version 8).
 */
const dispatcher = new EnvHttpProxyAgent();

/** How often a connection may break on the way and bring nothing new. */
const MOST_IDLE_TRIES = 3;

/** Why a mirror gave no file, in words. */
class Refused extends Error {}

/** The same, of a connection that broke after the file had begun to come. */
class Broken extends Refused {}

/**
 * @param place where the file is to be
 * @returns undefined where it is there; else what each mirror did
 * @throws GradwireError `OUTPUT_NOT_WRITABLE`; where the signal ends it, its reason
 */
export async function download(
  file: PublicFile,
  place: string,
  mirrors: readonly string[],
  options: DownloadOptions,
): Promise<readonly string[] | undefined> {
  const reasons: string[] = [];
  for (const mirror of mirrors) {
    const url = `${mirror}${file.name}`;
    const reason = await fromMirror(file, place, url, options);
    if (reason === undefined) return undefined;
    reasons.push(`${url}: ${reason}`);
  }
  return reasons;
}

async function fromMirror(
  file: PublicFile,
  place: string,
  url: string,
  options: DownloadOptions,
): Promise<string | undefined> {
  const part = `${place}.part`;
  for (let idle = 1; ;) {
    const before = await sizeOf(part);
    try {
      await receive(file, part, url, options);
    } catch (error) {
      options.signal.throwIfAborted();
      if (!(error instanceof Refused)) throw error;
      idle = (await sizeOf(part)) > before ? 1 : idle + 1;
      if (error instanceof Broken && idle <= MOST_IDLE_TRIES) continue;
      return error.message;
    }
    if ((await sha256Of(part)) === file.sha256) {
      await rename(part, place);
      return undefined;
    }
    await rm(part, { force: true });
    // What was there may have been of another mirror's file: all of it from this one.
    if (before === 0) {
      return 'another file than the one that was published (its SHA-256 differs)';
    }
  }
}

/** Fills the part, or what is missing of it. */
async function receive(
  { bytes }: PublicFile,
  part: string,
  url: string,
  { arrived, signal, silenceMs }: DownloadOptions,
): Promise<void> {
  const there = await sizeOf(part);
  if (there === bytes) return;
  // Longer than the file it is part of: of something else.
  const from = there > bytes ? 0 : there;
  const silence = new Silence(silenceMs);
  let handle: FileHandle | undefined;
  try {
    const response = await request(
      url,
      from,
      AbortSignal.any([signal, silence.signal]),
    );
    let received = response.status === 206 ? from : 0;
    handle = await openPart(part, received > 0);
    arrived(received);
    for await (const chunk of response.body ?? []) {
      silence.broken();
      received += chunk.byteLength;
      if (received > bytes) {
        await handle.truncate(0);
        throw new Refused(`more than the ${bytes} bytes of the file`);
      }
      await write(handle, part, chunk);
      arrived(received);
    }
    if (received < bytes) throw new Refused(`only ${received} of ${bytes} bytes`);
  } catch (error) {
    signal.throwIfAborted();
    if (silence.signal.aborted) throw new Refused('the server fell silent');
    throw asRefusal(error, handle === undefined ? Refused : Broken);
  } finally {
    silence.end();
    await handle?.close();
  }
}

async function request(
  url: string,
  from: number,
  signal: AbortSignal,
): Promise<Response> {
  const response = await fetch(url, {
    ...{ dispatcher, signal },
    headers: {
      // The file's own bytes, which may be gzipped: not unpacked on the way.
      'accept-encoding': 'identity',
      ...(from > 0 ? { range: `bytes=${from}-` } : {}),
    },
  });
  const { headers, status, statusText } = response;
  const range = headers.get('content-range');
  if (status === 200) return response;
  if (status === 206 && range?.startsWith(`bytes ${from}-`) === true) return response;
  await response.body?.cancel();
  throw new Refused(`HTTP ${status} ${statusText}`.trim());
}

async function openPart(part: string, goesOn: boolean): Promise<FileHandle> {
  try {
    return await open(part, goesOn ? 'a' : 'w');
  } catch (error) {
    throw fileNotWritable(part, error);
  }
}

async function write(
  handle: FileHandle,
  part: string,
  chunk: Uint8Array,
): Promise<void> {
  try {
    await handle.writeFile(chunk);
  } catch (error) {
    throw fileNotWritable(part, error);
  }
}

async function sizeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).size;
  } catch {
    return 0; // not there yet
  }
}

/** What the network did is the mirror's; any other error is not. */
function asRefusal(error: unknown, Refusal: typeof Refused): unknown {
  if (!(error instanceof TypeError)) return error;
  // fetch says "fetch failed", and why in its cause.
  const { cause, message } = error;
  return new Refusal(cause instanceof Error && cause.message ? cause.message : message);
}

/** Ends a request that brings nothing for a while. */
class Silence {
  readonly #controller = new AbortController();
  readonly #ms: number;
  #timer: NodeJS.Timeout;

  constructor(ms: number) {
    this.#ms = ms;
    this.#timer = this.#begin();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  broken(): void {
    clearTimeout(this.#timer);
    this.#timer = this.#begin();
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #begin(): NodeJS.Timeout {
    return setTimeout(() => {
      this.#controller.abort();
    }, this.#ms);
  }
}
