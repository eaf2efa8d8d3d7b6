/**
 * The allow-list of files that a host serves: the built renderer's own files with plain
 * names (no leading dots, no escapes, at most three folders deep) and known kinds. A
 * path that does not match is not looked up at all, so none can leave the directory.
 * Both hosts use it: the server for http:, the window for app:.
 */
import path from 'node:path';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.wasm': 'application/wasm',
};

const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;
const DEEPEST = 4;

/** A name with the build's content hash, so the file never changes. */
const HASHED = /^assets\/.*-[A-Za-z0-9_-]{8}\.[a-z0-9]+$/;

export interface RendererFile {
  /** Relative to the renderer's directory, with forward slashes. */
  readonly name: string;
  readonly type: string;
  readonly cacheControl: string;
}

/**
 * The file for a URL's path; undefined if it is not on the list.
 * @param pathname from `URL`, still escaped
 */
export function rendererFile(pathname: string): RendererFile | undefined {
  if (!pathname.startsWith('/')) return undefined;
  const name = pathname === '/' ? 'index.html' : pathname.slice(1);
  const parts = name.split('/');
  if (parts.length > DEEPEST || !parts.every((part) => NAME.test(part)))
    return undefined;
  const type = TYPES[path.posix.extname(name)];
  if (type === undefined) return undefined;
  return {
    name,
    type,
    cacheControl: HASHED.test(name)
      ? 'private, max-age=31536000, immutable'
      : 'no-cache',
  };
}
