/** All pages of docs/reference as Markdown, formatted as the repository's own. */
import path from 'node:path';
import { format, resolveConfig } from 'prettier';
import { cataloguePages } from './catalogue-pages.ts';
import { codePages } from './code-pages.ts';
import { commandPage } from './command-page.ts';
import type { Page } from './page.ts';
import { recordPage } from './record-page.ts';
import { settingsPages } from './settings-pages.ts';
import { specPages } from './spec-pages.ts';

export const referenceDirectory = path.join(
  import.meta.dirname,
  '../../docs/reference',
);

const pages: readonly Page[] = [
  commandPage,
  ...specPages,
  ...cataloguePages,
  recordPage,
  ...settingsPages,
  ...codePages,
];

const MADE =
  '<!-- Made by `npm run reference` from the source: change that instead. -->';

const index: Page = {
  file: 'README.md',
  title: 'Reference',
  about:
    'Made from the definitions that Gradwire runs on, so that it is what this version has. For how to do things, begin with the [README](../../README.md).',
  body: [pages.map(({ file, title }) => `- [${title}](${file})`).join('\n')],
};

const markdown = ({ about, body, title }: Page): string =>
  [MADE, `# ${title}`, about, ...body, ''].join('\n\n');

/** The text of each page by its file's name. */
export async function referencePages(): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  for (const page of [index, ...pages]) {
    const filepath = path.join(referenceDirectory, page.file);
    const options = await resolveConfig(filepath);
    texts.set(page.file, await format(markdown(page), { ...options, filepath }));
  }
  return texts;
}
