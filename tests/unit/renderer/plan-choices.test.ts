import { describe, expect, it } from 'vitest';
import { formatRoute, parseRoute } from '../../../src/renderer/state/places/route.ts';
import type { PlanPlace } from '../../../src/renderer/state/places/plan.ts';
import {
  planCommand,
  plannedSpec,
  planRequest,
} from '../../../src/renderer/state/plan/plan-choices.ts';
import {
  BANDWIDTH_PLACES,
  LATENCY_PLACES,
  nearestPlace,
  RANK_PLACES,
} from '../../../src/renderer/state/plan/plan-places.ts';
import { applySettings } from '../../../src/main/spec/settings.ts';

const BASE = {
  name: 'first',
  workload: { model: 'fnn3' },
  exchange: {
    method: 'topk',
    collective: 'auto',
    bucketBytes: 4096,
    ratio: 0.01,
    layers: [{ match: '*.bias', method: 'none' }],
  },
};
const PLACE: PlanPlace = {
  view: 'plan',
  preset: 'digits-topk',
  ranks: '16',
  machines: '4',
  bandwidth: '10 Gbit/s',
  latency: '50 µs',
  compute: '5.5',
  parameters: '25M',
  method: 'qsgd',
  options: 'bits=4',
  collective: 'auto',
  axis: 'ranks',
};

describe('a plan', () => {
  it('is in its address', () => {
    expect(parseRoute(formatRoute(PLACE))).toEqual(PLACE);
  });

  it('is what the command of the same name asks for', () => {
    const command = planCommand(PLACE, 5.5);
    expect(command).toBe(
      'gradwire plan digits-topk --set exchange.method=qsgd --set exchange.collective=auto ' +
        "--set exchange.bits=4 --set 'network.bandwidth=10 Gbit/s' " +
        "--set 'network.latency=50 µs' --ranks 16 --machines 4 --parameters 25M --compute 5.5",
    );
    const settings = [...command.matchAll(/--set (?:'([^']*)'|(\S+))/g)].map(
      ([, quoted, plain]) => quoted ?? plain!,
    );
    expect(plannedSpec(BASE, PLACE)).toEqual(applySettings(BASE, settings));
    expect(planRequest(BASE, PLACE)).toMatchObject({
      ranks: [16],
      machines: 4,
      compute: 5.5,
      parameters: 25e6,
      curve: 'ranks',
    });
  });

  it.each([
    ['ranks', '0'],
    ['ranks', '2.5'],
    ['machines', 'two'],
    ['compute', '-1'],
    ['compute', 'NaN'],
    ['parameters', '2G'],
    ['bandwidth', '10 parsecs'],
  ])('%s of %s is refused with its place', (key, value) => {
    const place = { view: 'plan', [key]: value } as const;
    expect(() => planRequest(BASE, place)).toThrow(
      expect.objectContaining({ code: 'PLAN_VALUE_INVALID', place: key }),
    );
  });

  it('has sliders that stand at the nearest place', () => {
    expect(RANK_PLACES[nearestPlace(RANK_PLACES, 15)]).toBe('16');
    expect(BANDWIDTH_PLACES[nearestPlace(BANDWIDTH_PLACES, '125 MB/s')]).toBe(
      '1 Gbit/s',
    );
    expect(LATENCY_PLACES[nearestPlace(LATENCY_PLACES, '0.05 ms')]).toBe('50 µs');
    expect(nearestPlace(LATENCY_PLACES, 'soon')).toBe(0);
  });
});
