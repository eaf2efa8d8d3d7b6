/** Which devices are a machine's GPUs, and which of them each rank takes. */
import { describe, expect, test } from 'vitest';
import {
  busId,
  machineGpus,
  triedInOrder,
  type DeviceKind,
  type RankOnMachine,
  type VulkanDevice,
} from '../../../src/agent/gpus/machine-gpus.ts';

let handles = 0;
const device = (kind: DeviceKind, bus?: string): VulkanDevice => ({
  handle: ++handles,
  name: kind,
  kind,
  bus: bus === undefined ? undefined : `00000000:${bus}:00.0`,
});
const idsOf = (devices: readonly VulkanDevice[], ranks = 2): readonly string[] =>
  machineGpus(devices, ranks).map(({ id }) => id.replace(/^0+:|:00\.0$/g, ''));

describe('GPUs of a machine', () => {
  test('are in the order of their bus ids for several ranks', () => {
    const devices = [device('discrete', '86'), device('discrete', '3B')];
    expect(idsOf(devices)).toEqual(['3B', '86']);
    expect(idsOf(devices.toReversed())).toEqual(['3B', '86']);
  });

  test('are in the order of the drivers for one', () => {
    const devices = [device('discrete', '86'), device('discrete', '3B')];
    expect(idsOf(devices, 1)).toEqual(['86', '3B']);
  });

  test('are those of the best kind', () => {
    const devices = [
      device('software'),
      device('integrated', '00'),
      device('discrete', '5E'),
      device('virtual'),
    ];
    expect(idsOf(devices)).toEqual(['5E']);
    expect(idsOf(devices.filter(({ kind }) => kind !== 'discrete'))).toEqual(['00']);
    expect(idsOf([device('software'), device('software')])).toEqual([]);
  });

  test('count once where two drivers name them', () => {
    const twice = [device('discrete', '3B'), device('discrete', '3B')];
    expect(idsOf([...twice, device('discrete', '5E')])).toEqual(['3B', '5E']);
  });

  test('are told apart by their places where no driver says where they are', () => {
    expect(idsOf([device('integrated'), device('integrated')])).toEqual([
      'GPU 0',
      'GPU 1',
    ]);
  });
});

describe('a rank', () => {
  const gpus = machineGpus(
    ['1A', '3B', '86', 'AF'].map((bus) => device('discrete', bus)),
    4,
  );
  const tried = (
    seat: Omit<RankOnMachine, 'share'>,
    share = false,
  ): readonly number[] =>
    triedInOrder(gpus, { ...seat, share }).map((gpu) => gpus.indexOf(gpu));

  test('tries its own, then those of no rank of its run, then the others', () => {
    expect(tried({ place: 0, ranks: 2 })).toEqual([0, 2, 3, 1]);
    expect(tried({ place: 1, ranks: 2 })).toEqual([1, 2, 3, 0]);
    expect(tried({ place: 3, ranks: 4 })).toEqual([3, 0, 1, 2]);
  });

  test('takes its own alone where GPUs are shared, dealt in turns', () => {
    expect([0, 1, 2, 3, 4, 5].map((place) => tried({ place, ranks: 6 }, true))).toEqual(
      [[0], [1], [2], [3], [0], [1]],
    );
  });

  test('has none to try where there is none', () => {
    expect(triedInOrder([], { place: 0, ranks: 2, share: true })).toEqual([]);
  });
});

test('bus ids are written as nvidia-smi does', () => {
  expect(busId(0, 0x3b, 0, 0)).toBe('00000000:3B:00.0');
  expect(busId(0x10001, 0xc1, 0x1f, 7)).toBe('00010001:C1:1F.7');
});
