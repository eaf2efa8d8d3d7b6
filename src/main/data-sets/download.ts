/**
 * One file over HTTP, from the first mirror that has it: bytes that arrived before a
 * connection broke are kept beside the file (`NAME.part`), and the download resumes at
 * this or the next mirror. The file gets its name only when its SHA-256 is right.
 */
import { open, rm, stat, type FileHandle } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { fetch, type EnvHttpProxyAgent, type Response } from 'undici';
import { replaceDurably } from '../../disk/durable-replacement.ts';
import { GrowingPause } from '../../shared/async/growing-pause.ts';
import { fileNotWritable } from '../../shared/errors/file-error.ts';
import { sha256Of } from '../home/file-hash.ts';
import { proxies } from '../http/proxies.ts';
import { mirrorAt, type Mirror } from './mirror.ts';
import type { PublicFile } from './public-sets.ts';

export interface DownloadOptions {
  readonly signal: AbortSignal;
  /**
   * @param there all bytes of the file so far
   * @param received bytes just received
   */
  readonly arrived: (there: number, received: number) => void;
  /** Most time that a server may stay silent. */
  readonly silenceMs: number;
}

/** Retries of connections that bring nothing new. */
const MOST_IDLE_TRIES = 3;
const FIRST_PAUSE_MS = 200;

/** A mirror did not deliver the file, for the reason in the message. */
class Refused extends Error {}

/** The same for a connection, which may work another time. */
class Broken extends Refused {}

/** The same for a request for the rest of a file. */
class RangeRefused extends Refused {}

/**
 * @param place the destination
 * @returns undefined if the file has arrived; otherwise each mirror's failure
 * @throws GradwireError `OUTPUT_NOT_WRITABLE`, `PROXY_INVALID`; the signal's reason if it is
 * aborted
 */
export async function download(
  file: PublicFile,
  place: string,
  mirrors: readonly string[],
  options: DownloadOptions,
): Promise<readonly string[] | undefined> {
  const dispatcher = proxies();
  const reasons: string[] = [];
  for (const mirror of mirrors.map(mirrorAt)) {
    const download = new MirrorDownload(file, place, mirror, dispatcher, options);
    const reason = await download.run();
    if (reason === undefined) return undefined;
    reasons.push(`${download.url}: ${reason}`);
  }
  return reasons;
}

class MirrorDownload {
  /** The address of the file, without user and password. */
  readonly url: string;
  readonly #file: PublicFile;
  readonly #place: string;
  readonly #part: string;
  readonly #authorization: string | undefined;
  readonly #dispatcher: EnvHttpProxyAgent;
  readonly #options: DownloadOptions;
  /** Whether the whole part came from this mirror. */
  #isOwn = false;

  constructor(
    file: PublicFile,
    place: string,
    mirror: Mirror,
    dispatcher: EnvHttpProxyAgent,
    options: DownloadOptions,
  ) {
    this.#file = file;
    this.#place = place;
    this.#part = `${place}.part`;
    this.url = `${mirror.url}${file.name}`;
    this.#authorization = mirror.authorization;
    this.#dispatcher = dispatcher;
    this.#options = options;
  }

  /** @returns undefined if the file has arrived; otherwise why not */
  async run(): Promise<string | undefined> {
    const { signal } = this.#options;
    for (;;) {
      const reason = await this.#fill();
      if (reason !== undefined) return reason;
      if ((await sha256Of(this.#part, signal)) === this.#file.sha256) {
        await replaceDurably(this.#part, this.#place);
        return undefined;
      }
      await rm(this.#part, { force: true });
      // The earlier part may come from another mirror's file, so fetch everything from
      // this one.
      if (this.#isOwn) return 'its SHA-256 differs from that of the published file';
    }
  }

  /** Receives until the part is complete. @returns why it failed */
  async #fill(): Promise<string | undefined> {
    const { signal } = this.#options;
    let longest = await sizeOf(this.#part);
    const pauses = new GrowingPause({ first: FIRST_PAUSE_MS });
    let idle = 0;
    let hasBegun = false;
    for (;;) {
      try {
        await this.#receive();
        return undefined;
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof Refused)) throw error;
        const size = await sizeOf(this.#part);
        if (error instanceof RangeRefused && !this.#isOwn && size > 0) {
          await rm(this.#part, { force: true });
          longest = 0;
          continue;
        }
        idle += 1;
        if (size > longest) {
          idle = 0;
          pauses.reset();
          hasBegun = true;
        }
        longest = Math.max(longest, size);
        // A mirror that never sent anything is not asked again.
        if (!(error instanceof Broken && hasBegun) || idle > MOST_IDLE_TRIES) {
          return error.message;
        }
      }
      await pause(pauses.next(), undefined, { signal }).catch(() => {
        signal.throwIfAborted();
      });
    }
  }

  /** One request for the missing rest. */
  async #receive(): Promise<void> {
    const { bytes } = this.#file;
    const { arrived, signal, silenceMs } = this.#options;
    const there = await sizeOf(this.#part);
    if (there === bytes) return;
    // Longer than the whole file, so it belongs to something else.
    const from = there > bytes ? 0 : there;
    const silence = new Silence(silenceMs);
    let handle: FileHandle | undefined;
    try {
      const ends = AbortSignal.any([signal, silence.signal]);
      const response = await this.#request(from, ends);
      let received = response.status === 206 ? from : 0;
      handle = await openPart(this.#part, received > 0);
      if (received === 0) this.#isOwn = true;
      arrived(received, 0);
      for await (const chunk of response.body ?? []) {
        silence.broken();
        received += chunk.byteLength;
        if (received > bytes) {
          await handle.truncate(0);
          throw new Refused(`the server sends more than the file’s ${bytes} bytes`);
        }
        await write(handle, this.#part, chunk);
        arrived(received, chunk.byteLength);
      }
      if (received < bytes) throw new Broken(`only ${received} of ${bytes} bytes`);
    } catch (error) {
      signal.throwIfAborted();
      if (silence.signal.aborted) throw new Broken('the server stopped sending');
      throw asRefusal(error);
    } finally {
      silence.end();
      await handle?.close();
    }
  }

  async #request(from: number, signal: AbortSignal): Promise<Response> {
    const authorization = this.#authorization;
    const response = await fetch(this.url, {
      dispatcher: this.#dispatcher,
      signal,
      headers: {
        // The file's own bytes, which may be gzipped, must not be unpacked in transit.
        'accept-encoding': 'identity',
        ...(authorization === undefined ? {} : { authorization }),
        ...(from > 0 ? { range: `bytes=${from}-` } : {}),
      },
    });
    const refused = this.#refusal(response, from);
    if (refused === undefined) return response;
    await response.body?.cancel();
    throw refused;
  }

  /** Checks an answer before any of it overwrites existing bytes. */
  #refusal(
    { headers, status, statusText }: Response,
    from: number,
  ): Refused | undefined {
    const { bytes } = this.#file;
    const said = `HTTP ${status} ${statusText}`.trim();
    if (status === 416 && from > 0) return new RangeRefused(said);
    if (status !== 200 && status !== 206) return new Refused(said);
    if (headers.has('content-encoding')) {
      return new Refused('the server compresses the response, which changes the file');
    }
    if (status === 206) {
      const range = headers.get('content-range') ?? '';
      if (range.startsWith(`bytes ${from}-`)) return undefined;
      return new RangeRefused('the server answered with a different range');
    }
    const length = headers.get('content-length');
    const isOther = length === null ? isPage(headers) && from > 0 : +length !== bytes;
    return isOther ? new Refused('a different file, not the published one') : undefined;
  }
}

/** Whether the answer is a web page, for example a proxy's log-in page. */
const isPage = (headers: Response['headers']): boolean =>
  headers.get('content-type')?.startsWith('text/html') === true;

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

/** Makes a network error the mirror's fault; other errors stay as they are. */
function asRefusal(error: unknown): unknown {
  if (!(error instanceof TypeError)) return error;
  // fetch says only "fetch failed"; the reason is in its cause.
  const { cause, message } = error;
  return new Broken(cause instanceof Error && cause.message ? cause.message : message);
}

/** Aborts a request that stays silent for too long. */
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
