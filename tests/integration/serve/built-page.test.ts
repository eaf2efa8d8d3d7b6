/** The renderer as built and as `gradwire serve` gives it: what a visit downloads. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GradwireHome } from '../../harness/gradwire.ts';
import { openServer, type Server } from '../../harness/server.ts';
import { rawRequest, type RawAnswer } from './raw-request.ts';

const renderer = path.join(import.meta.dirname, '../../../dist/desktop/renderer');

/** The bytes of everything that a page loads, in the worse of both forms. */
const MOST_BYTES = 400_000;
/** The bytes that are loaded before something is shown. */
const FIRST_BYTES = 150_000;

/** Vite's: what each entry's file imports. */
interface ManifestEntry {
  readonly file: string;
  readonly imports?: readonly string[];
  readonly css?: readonly string[];
}
const manifest = JSON.parse(
  readFileSync(path.join(renderer, '.vite/manifest.json'), 'utf8'),
) as Readonly<Record<string, ManifestEntry>>;

/** The files that have come before the code of these entries runs. */
function filesOf(...entries: readonly string[]): ReadonlySet<string> {
  const files = new Set<string>();
  const add = (name: string): void => {
    const { file, imports = [], css = [] } = manifest[name]!;
    for (const each of [file, ...css]) files.add(each);
    imports.forEach(add);
  };
  entries.forEach(add);
  return files;
}

let home: GradwireHome;
let server: Server;
let get: (target: string, accepted: string) => Promise<RawAnswer>;

beforeAll(async () => {
  home = new GradwireHome();
  server = await openServer(home);
  const { port } = new URL(server.url);
  get = (target, accepted) =>
    rawRequest({
      port: Number(port),
      target,
      headers: { 'Accept-Encoding': accepted },
    });
});

afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  await home?.[Symbol.asyncDispose]();
});

describe.each([
  ['br', brotliDecompressSync],
  ['gzip', gunzipSync],
])('by %s', (encoding, decompress) => {
  const served = async (files: Iterable<string>): Promise<number> => {
    let bytes = 0;
    for (const file of files) {
      const answer = await get(`/${file}`, encoding);
      expect(answer.status).toBe(200);
      bytes += answer.bytes.length;
    }
    return bytes;
  };

  it('every file is the file that was built, once decompressed', async () => {
    const files = readdirSync(path.join(renderer, 'assets')).filter((name) =>
      /\.(js|css|svg)$/.test(name),
    );
    expect(files.length).toBeGreaterThan(5);
    for (const name of files) {
      const plain = readFileSync(path.join(renderer, 'assets', name));
      const { headers, bytes } = await get(`/assets/${name}`, encoding);
      const body = headers['content-encoding'] === encoding ? decompress(bytes) : bytes;
      expect(body.equals(plain)).toBe(true);
      // What is worth compressing is.
      if (plain.length > 1000) expect(bytes.length).toBeLessThan(plain.length / 1.5);
    }
  });

  it('the first screen is half of all pages', async () => {
    const page = await get('/', encoding);
    const files = filesOf('index.html');
    for (const file of files) {
      const html = (
        page.headers['content-encoding'] === encoding
          ? decompress(page.bytes)
          : page.bytes
      ).toString();
      // Named by the page itself: nothing is found out of only while it loads.
      expect(html).toContain(file);
    }
    const bytes = page.bytes.length + (await served(files));
    expect(bytes).toBeGreaterThan(50_000);
    expect(bytes).toBeLessThan(FIRST_BYTES);
  });

  it.each([
    'LiveRunView',
    'RunsView',
    'NewExperimentView',
    'CompareView',
    'PlanView',
    'ClusterView',
    'SweepsView',
    'SettingsView',
    'FiguresView',
  ])('%s and what it needs', async (view) => {
    const files = filesOf('index.html', `views/${view}.svelte`);
    expect(files.size).toBeGreaterThan(filesOf('index.html').size);
    expect(await served(files)).toBeLessThan(MOST_BYTES);
  });

  it('all pages together, as they are once the first is shown', async () => {
    const views = Object.keys(manifest).filter((name) => name.startsWith('views/'));
    expect(views).toHaveLength(10);
    expect(await served(filesOf('index.html', ...views))).toBeLessThan(MOST_BYTES);
  });
});

it('has no source maps, and gives out none of the build’s own files', async () => {
  const all = readdirSync(renderer, { recursive: true, encoding: 'utf8' });
  expect(all.filter((name) => name.endsWith('.map'))).toEqual([]);
  expect((await get('/.vite/manifest.json', 'br')).status).toBe(404);
});
