/** Pages of codes and of environment variables. */
import { codeGroups } from '../../src/shared/codes/error-code.ts';
import { environmentVariables } from '../../src/shared/catalogue/environment-variables.ts';
import { cell, code, table } from './markdown.ts';
import type { Page } from './page.ts';

const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^a-z0-9 -]/g, '')
    .replaceAll(' ', '-');

const errors: Page = {
  file: 'errors.md',
  title: 'Codes of errors and notices',
  about:
    'An error is one line: `gradwire: CODE: message (place). Next step.` The message names the value, and its next step knows more than this page. `gradwire errors CODE` prints an entry. Codes keep their meaning from version to version.',
  body: [
    codeGroups.map(({ title }) => `[${title}](#${anchorOf(title)})`).join(' · '),
    ...codeGroups.map(
      ({ about, codes, title }) =>
        `## ${title}\n\n${about}\n\n${table(
          ['code', 'meaning', 'next step'],
          Object.entries(codes).map(([name, { means, next }]) => [
            code(name),
            cell(means),
            cell(next),
          ]),
        )}`,
    ),
  ],
};

const environment: Page = {
  file: 'environment.md',
  title: 'Environment variables',
  about: 'All are optional.',
  body: environmentVariables.map(
    ({ title, variables }) =>
      `## ${title}\n\n${table(
        ['variable', 'meaning'],
        variables.map(({ means, name }) => [
          name.split(', ').map(code).join(', '),
          cell(means),
        ]),
      )}`,
  ),
};

export const codePages: readonly Page[] = [errors, environment];
