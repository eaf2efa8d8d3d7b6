/** The device on which a rank computes with PyTorch: a GPU of its own, or the CPU where there is none. */
import { inputError } from '../../shared/errors/errors.ts';
import type { RankOnMachine } from '../gpus/machine-gpus.ts';

/**
 * @param gpus that PyTorch sees
 * @returns as PyTorch names it
 * @throws GradwireError `GPU_SHARED`
 */
export function chooseDevice(
  gpus: number,
  { place, ranks, share }: RankOnMachine,
): string {
  if (gpus === 0) return 'cpu';
  if (ranks <= gpus || share) return `cuda:${place % gpus}`;
  const count = gpus === 1 ? 'one GPU' : `${gpus} GPUs`;
  throw inputError('GPU_SHARED', `${ranks} ranks of one machine would share ${count}`, {
    place: 'backend: torch',
    next:
      `Use at most ${gpus} on this machine, set world.shareGpu: true to let ranks share GPUs, ` +
      'or hide them from PyTorch: CUDA_VISIBLE_DEVICES=',
  });
}
