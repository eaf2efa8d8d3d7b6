import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import {
  isOnNetwork,
  isSharedType,
} from '../../../src/main/store/network-file-system.ts';

/** As `stat --file-system --format %t` of GNU coreutils names them. */
test.each([
  ['nfs', 0x6969, true],
  ['smb2, as kernels of 64 bits tell it', -0x1acb2be, true],
  ['smb2', 0xfe534d42, true],
  ['lustre', 0x0bd00bd0, true],
  ['ext4', 0xef53, false],
  ['tmpfs', 0x01021994, false],
  ['btrfs', 0x9123683e, false],
  ['xfs', 0x58465342, false],
  ['overlay', 0x794c7630, false],
])('%s', (_, type, shared) => {
  expect(isSharedType(type)).toBe(shared);
});

test('the temporary directory is not on a network', () => {
  expect(isOnNetwork(tmpdir())).toBe(false);
});
