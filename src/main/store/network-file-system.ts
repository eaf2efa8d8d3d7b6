/** Whether files lie on a file system that several machines may have mounted. */
import { statfsSync } from 'node:fs';

/** The kernel's numbers for them: statfs(2). */
const SHARED_TYPES: ReadonlySet<number> = new Set([
  0x6969, // NFS
  0x517b, // SMB
  0xfe534d42, // SMB 2
  0xff534d42, // CIFS
  0x0bd00bd0, // Lustre
  0x47504653, // GPFS
  0x19830326, // BeeGFS
  0x00c36400, // Ceph
  0x5346414f, // OpenAFS
  0x6b414653, // kAFS
  0x73757245, // Coda
  0xaad7aaea, // PanFS
  0x01161970, // GFS2
  0x7461636f, // OCFS2
  0x01021997, // 9P
  0x65735546, // FUSE: SSHFS, GlusterFS and others; some are local
]);

export const isSharedType = (type: number): boolean =>
  // Some kernels extend the sign of 32 bits.
  SHARED_TYPES.has(Number(BigInt.asUintN(32, BigInt(type))));

export function isOnNetwork(directory: string): boolean {
  if (process.platform !== 'linux') return false;
  return isSharedType(statfsSync(directory).type);
}
