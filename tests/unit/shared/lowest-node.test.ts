import { expect, test } from 'vitest';
import {
  isNodeAccepted,
  LOWEST_NODE,
} from '../../../src/shared/machines/lowest-node.ts';

const [major, minor] = LOWEST_NODE.split('.').map(Number) as [number, number];

test.each([
  [LOWEST_NODE, true],
  [`v${LOWEST_NODE}`, true],
  [`v${major}.${minor + 9}.0`, true],
  [`${major + 1}.0.0`, true],
  [`${major - 1}.99.0`, false],
  // Of another length as a text.
  ['9.99.99', false],
  ['100.0.0', true],
  ['', false],
  [undefined, false],
  ['v24', false],
])('Node %s is accepted: %s', (version, accepted) => {
  expect(isNodeAccepted(version)).toBe(accepted);
});
