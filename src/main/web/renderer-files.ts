/**
 * The allow-list of what a host gives out: the built renderer's own files, named plainly
 * (no dots first, no escapes, at most three folders deep) and of a known kind. Whatever
 * does not match the list is not looked up at all, so there is no path to climb out by.
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

/** A name with the build's hash of its content: what it names never changes. */
const HASHED = /^assets\/.*-[A-Za-z0-9_-]{8}\.[a-z0-9]+$/;

export interface RendererFile {
  /** Relative to the renderer's directory, with forward slashes. */
  readonly name: string;
  readonly type: string;
  readonly cacheControl: string;
}

/**
 * The file a URL's path stands for, or undefined if the list has none.
 * @param pathname as `URL` gives it: escapes are still escapes
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
