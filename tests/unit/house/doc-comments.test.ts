/** The lint rule of doc comments: their first words name what they are about. */
import { Linter } from 'eslint';
import { expect, it } from 'vitest';
import { docSubjectRule, withoutSubject } from '../../../eslint-doc-comments.js';

function complaints(code: string): readonly Linter.LintMessage[] {
  return new Linter().verify(code, [
    {
      plugins: { gradwire: { rules: { 'doc-subject': docSubjectRule } } },
      rules: { 'gradwire/doc-subject': 'error' },
    },
  ]);
}

it.each(withoutSubject)('%s names no subject', (word) => {
  const [complaint] = complaints(`\n/** ${word} a rank sends. */\nlet bytes;`);
  expect(complaint?.message).toContain(`"${word}" does not`);
  expect(complaint?.line).toBe(2);
});

it.each([
  ['on the second line', '/**\n * What a rank sends.\n * In bytes.\n */'],
  ['behind code', 'let bytes; /** Of a rank. */'],
  ['in a member', 'const a = {\n  /** Its bytes. */\n  bytes: 1,\n};'],
  ['in lower case', '/** in bytes */'],
  ['before an apostrophe', '/** What’s sent. */'],
  ['before a line break', '/**\n * How\n * ranks send. */'],
])('is found %s', (_, code) => {
  expect(complaints(code)).toHaveLength(1);
});

it.each([
  '/** Bytes that a rank sends. */',
  '/** Returns what a rank sends. */',
  '/** Whether it is the first. */',
  '/** When the run ended, in milliseconds since 1970. */',
  '/** At-most-once delivery. */',
  '/** Forecasts of a spec. */',
  '/** Items in order. */',
  '/** One message to each rank. */',
  '/** The end; undefined if there is none. */',
  '/** `of` of a figure. */',
  '/** @param rank of the sender */',
  '/** */',
  '/* What is no doc comment. */',
  '// How a line begins is its own business.',
  "const text = '/** What a string says. */';",
])('%s is accepted', (code) => {
  expect(complaints(code)).toEqual([]);
});
