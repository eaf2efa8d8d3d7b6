/** The PyTorch that a peer's figures are of, as `torch_facts.py` tells it. */
import { cpus, type CpuInfo } from 'node:os';

export interface TorchFacts {
  readonly torch: string;
  readonly threads: number;
  readonly blas: string;
  /** Instructions that its kernels use, such as AVX2. */
  readonly capability: string;
}

/** The line above a table. */
export function factsText(
  { blas, capability, threads, torch }: TorchFacts,
  cores: readonly Pick<CpuInfo, 'model'>[] = cpus(),
): string {
  const model = cores[0]?.model.trim() ?? '';
  const machine = model === '' ? '' : `, ${model}`;
  return (
    `PyTorch ${torch}, ${blas}, ${capability}, ${counted(threads, 'thread')}; ` +
    `${counted(cores.length, 'core')}${machine}`
  );
}

const counted = (count: number, what: string): string =>
  `${count} ${what}${count === 1 ? '' : 's'}`;
