import { expect, test } from 'vitest';
import { keyAction } from '../../../src/renderer/terminal/terminal-keys.ts';

const NONE = { ctrlKey: false, shiftKey: false, altKey: false, metaKey: false };
const CTRL = { ...NONE, ctrlKey: true };
const BOTH = { ...CTRL, shiftKey: true };

test.each([
  ['c', CTRL, 'shell'],
  ['v', CTRL, 'shell'],
  ['Tab', NONE, 'shell'],
  ['ArrowUp', CTRL, 'shell'],
  ['C', BOTH, 'copy'],
  ['V', BOTH, 'page'],
  ['P', BOTH, 'page'],
  ['ArrowUp', BOTH, 'leave'],
  ['ArrowUp', { ...BOTH, altKey: true }, 'shell'],
] as const)('%s with %o: %s', (key, modifiers, expected) => {
  expect(keyAction({ key, ...modifiers })).toBe(expected);
});
