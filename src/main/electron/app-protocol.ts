/**
 * `app://gradwire/`: the built renderer inside the window, with the same allow-list and
 * headers as the server uses for a browser.
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { rendererFile } from '../web/renderer-files.ts';
import { securityHeaders } from '../web/security-headers.ts';
import { isAppUrl } from './ipc-gate.ts';

/** @param renderer the built renderer's directory */
export function answerAppRequests(
  renderer: string,
): (request: Request) => Promise<Response> {
  const headers = securityHeaders({});
  return async (request) => {
    const file = isAppUrl(request.url)
      ? rendererFile(new URL(request.url).pathname)
      : undefined;
    if (file === undefined || request.method !== 'GET') {
      return new Response('Not Found\n', { status: 404, headers });
    }
    const body = await readFile(path.join(renderer, file.name)).catch(
      (error: NodeJS.ErrnoException) => error,
    );
    if (body instanceof Error) {
      const status = body.code === 'ENOENT' ? 404 : 500;
      return new Response(`${body.code ?? 'error'}\n`, { status, headers });
    }
    return new Response(new Uint8Array(body), {
      headers: {
        ...headers,
        'Content-Type': file.type,
        'Cache-Control': file.cacheControl,
      },
    });
  };
}
