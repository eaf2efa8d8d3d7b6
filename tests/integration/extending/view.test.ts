/**
 * A view is added as docs/extending.md says, in a copy of the sources: its places, its component
 * and one line each in two registries. The page then has it in its rail, palette and addresses.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchChromium } from '../../harness/browser.ts';
import { GradwireHome } from '../../harness/gradwire.ts';
import { watchErrors } from '../../harness/page.ts';
import { openServer } from '../../harness/server.ts';

const root = path.join(import.meta.dirname, '../../..');
const NOT_COPIED = ['.git', '.venv', 'dist', 'node_modules', 'test-results'];

const PLACES = `/** Places of weather: \`#/weather?town=NAME\`. */
import { placeKind, withChoices } from './place-kind.ts';

export interface WeatherPlace {
  readonly view: 'weather';
  readonly town?: string | undefined;
}

export const weatherPlace = placeKind<WeatherPlace>({
  view: 'weather',
  read: (_id, query) => ({ view: 'weather', town: query.get('town') }),
  write: ({ view, ...choices }) => withChoices(view, choices),
});
`;
const COMPONENT = `<script lang="ts">
  interface Props {
    readonly town: string | undefined;
  }
  const { town }: Props = $props();
</script>

<h1>Weather of {town ?? 'everywhere'}</h1>
`;
const ENTRY = `  weather: define({
    part: new LazyView(() => import('./views/WeatherView.svelte')),
    props: ({ town }: PlaceOf<'weather'>) => ({ town }),
    key: ALWAYS,
    rail: { title: 'Weather', icon: Server, to: { view: 'weather' } },
  }),
`;

let copy: string;

const renderer = (...parts: readonly string[]): string =>
  path.join(copy, 'src/renderer', ...parts);

/** Writes lines before another in a file that has that once. */
function insert(file: string, lines: string, before: string): void {
  const text = readFileSync(file, 'utf8');
  expect(text.split(before)).toHaveLength(2);
  writeFileSync(
    file,
    text.replace(before, () => lines + before),
  );
}

beforeAll(() => {
  copy = mkdtempSync(path.join(tmpdir(), 'gradwire-view-'));
  cpSync(root, copy, {
    recursive: true,
    filter: (file) => !NOT_COPIED.includes(path.relative(root, file)),
  });
  symlinkSync(path.join(root, 'node_modules'), path.join(copy, 'node_modules'));
  writeFileSync(renderer('state/places/weather.ts'), PLACES);
  writeFileSync(renderer('views/WeatherView.svelte'), COMPONENT);
  const routes = renderer('state/places/route.ts');
  insert(
    routes,
    "import { weatherPlace } from './weather.ts';\n",
    '\n/** The places of all views.',
  );
  insert(routes, '  weatherPlace,\n', "  onlyPlace('cluster'),\n");
});
afterAll(() => {
  rmSync(copy, { recursive: true, force: true });
});

test('a view without its entry does not compile', { tags: 'soak' }, () => {
  const { status, stdout } = spawnSync(
    path.join(copy, 'node_modules/.bin/svelte-check'),
    ['--tsconfig', 'tsconfig.web.json', '--output', 'machine'],
    { cwd: copy, encoding: 'utf8' },
  );
  expect(status).toBe(1);
  expect(stdout).toContain("'weather' is missing");
});

test(
  'with it the page has the view in its rail, palette and addresses',
  { tags: 'soak' },
  async () => {
    insert(renderer('views.svelte.ts'), ENTRY, '} satisfies Record');
    execFileSync(process.execPath, ['scripts/build.ts', '--quiet'], { cwd: copy });
    await using home = new GradwireHome();
    await using server = await openServer(home, [], {
      command: path.join(copy, 'bin/gradwire.js'),
    });
    const browser = await launchChromium();
    try {
      const page = await browser.newPage();
      const errors = watchErrors(page);
      await page.goto(server.url);
      await page.getByRole('link', { name: 'Weather' }).click();
      await page.getByRole('heading', { name: 'Weather of everywhere' }).waitFor();
      await page.goto(`${server.url}#/weather?town=Ulm`);
      await page.getByRole('heading', { name: 'Weather of Ulm' }).waitFor();
      await page.keyboard.press('Control+k');
      await page.keyboard.type('weather');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Weather of everywhere' }).waitFor();
      expect(errors).toEqual([]);
    } finally {
      await browser.close();
    }
  },
);
