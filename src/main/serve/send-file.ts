/**
 * Sends one of the renderer's files in the best form that the browser accepts, or 304 if
 * the browser already has it.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import path from 'node:path';
import { acceptedEncodings } from '../web/content-encoding.ts';
import type { RendererFile } from '../web/renderer-files.ts';

interface Form {
  readonly bytes: Buffer;
  /** The encoding of the sent bytes; undefined if the file is sent as it is. */
  readonly encoding: string | undefined;
}

/**
 * @param renderer the built renderer's directory
 * @param refuse answers with 404 or 500 if the file cannot be read
 */
export async function sendFile(
  request: IncomingMessage,
  response: ServerResponse,
  renderer: string,
  file: RendererFile,
  refuse: (status: 404 | 500) => void,
): Promise<void> {
  const location = path.join(renderer, file.name);
  let form: Form;
  try {
    form = await readForm(location, request.headers['accept-encoding']);
  } catch (error) {
    return refuse((error as NodeJS.ErrnoException).code === 'ENOENT' ? 404 : 500);
  }
  const tag = entityTag(form.bytes);
  response.setHeader('Cache-Control', file.cacheControl);
  response.setHeader('ETag', tag);
  response.setHeader('Vary', 'Accept-Encoding');
  if (matches(request.headers['if-none-match'], tag)) {
    response.writeHead(304).end();
    return;
  }
  response.writeHead(200, {
    'Content-Type': file.type,
    'Content-Length': form.bytes.length,
    ...(form.encoding === undefined ? {} : { 'Content-Encoding': form.encoding }),
  });
  response.end(request.method === 'HEAD' ? undefined : form.bytes);
}

/** Small files have no compressed forms, and neither has a renderer built for development. */
async function readForm(location: string, accepted: string | undefined): Promise<Form> {
  for (const { name, suffix } of acceptedEncodings(accepted)) {
    const bytes = await readFile(`${location}${suffix}`).catch(() => undefined);
    if (bytes !== undefined) return { bytes, encoding: name };
  }
  return { bytes: await readFile(location), encoding: undefined };
}

/** A strong ETag: each form of a file has its own. */
function entityTag(bytes: Buffer): string {
  return `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
}

/** An If-None-Match header, compared weakly (RFC 9110, 13.1.2). */
function matches(header: string | undefined, tag: string): boolean {
  const tags = (header ?? '').split(',').map((each) => each.trim());
  return tags.some((each) => each === '*' || each.replace(/^W\//, '') === tag);
}
