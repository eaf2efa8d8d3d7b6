/** Choices of a place of the Plan view: the spec that it changes, and the request. */
import type { JsonValue } from '../../../shared/checks/json.ts';
import { inputError } from '../../../shared/errors/errors.ts';
import { MOST_ELEMENTS } from '../../../shared/forecast/forecast-question.ts';
import {
  CURVE_AXES,
  MOST_PLANNED_RANKS,
  type CurveAxis,
  type PlanRequest,
} from '../../../shared/forecast/plan-request.ts';
import { linkSpecSchema } from '../../../shared/machines/emulated-network.ts';
import { PLAN_KEYS } from '../../../shared/plan/exchange-plan.ts';
import { readCountText } from '../../../shared/words/count-text.ts';
import { shellWord } from '../../../shared/words/shell-word.ts';
import { isDraft, withValue, type Draft } from '../experiment/spec-draft.ts';
import type { PlanPlace } from '../places/plan.ts';

/** @throws GradwireError `PLAN_VALUE_INVALID` */
export function readCount(text: string, most: number, place: string): number {
  const count = readCountText(text);
  if (count !== undefined && count >= 1 && count <= most) return count;
  throw invalid(place, text, `a whole number from 1 to ${most}, such as 16 or 25M`);
}

/** @throws GradwireError `PLAN_VALUE_INVALID` */
function readMilliseconds(text: string): number {
  const time = Number(text);
  if (text.trim() !== '' && time >= 0 && time <= 1e9) return time;
  throw invalid('compute', text, 'a time in milliseconds, such as 5.2');
}

/**
 * Normalises a link as users write it.
 * @throws GradwireError `PLAN_VALUE_INVALID`
 */
export function readLink(
  bandwidth: string,
  latency = '0 s',
): { readonly bandwidth: string; readonly latency: string } {
  const parsed = linkSpecSchema.safeParse({ bandwidth, latency });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const place = String(issue?.path[0] ?? 'bandwidth');
  throw inputError(
    'PLAN_VALUE_INVALID',
    `${place}: ${issue?.message ?? 'cannot be used'}`,
    { place, next: 'Write it as 10 Gbit/s and 50 µs.' },
  );
}

const invalid = (place: string, text: string, what: string): Error =>
  inputError('PLAN_VALUE_INVALID', `${place}: "${text}" is not ${what}`, {
    place,
    next: 'Correct the field.',
  });

/** `ratio=0.01,momentum=0.9` as values by key. */
export function readOptions(text = ''): ReadonlyMap<string, JsonValue> {
  return new Map(
    text
      .split(',')
      .filter((part) => part.includes('='))
      .map((part): [string, JsonValue] => {
        const [key = '', value = ''] = part.split('=', 2);
        return [key.trim(), valueOf(value.trim())];
      }),
  );
}

function valueOf(text: string): JsonValue {
  if (text === 'true' || text === 'false') return text === 'true';
  const number = Number(text);
  return text === '' || Number.isNaN(number) ? text : number;
}

/** The options with one changed; undefined takes it away. */
export function withOption(
  text: string | undefined,
  key: string,
  value: string | undefined,
): string | undefined {
  const options = new Map(readOptions(text));
  if (value === undefined) options.delete(key);
  else options.set(key, value);
  if (options.size === 0) return undefined;
  return [...options].map(([name, given]) => `${name}=${String(given)}`).join(',');
}

/**
 * The spec with the place's exchange and network.
 * @throws GradwireError `PLAN_VALUE_INVALID`
 */
export function plannedSpec(base: Draft, place: PlanPlace): Draft {
  let spec = base;
  if (place.method !== undefined) spec = ofMethod(spec, place.method);
  if (place.collective !== undefined)
    spec = withValue(spec, 'exchange.collective', place.collective);
  for (const [key, value] of readOptions(place.options))
    spec = withValue(spec, `exchange.${key}`, value);
  if (place.bandwidth !== undefined) {
    const { bandwidth, latency } = readLink(place.bandwidth, place.latency);
    spec = withValue(spec, 'network', { bandwidth, latency });
  }
  return spec;
}

/** Another method drops the old one's parameters and layers, as `--set exchange.method` does. */
function ofMethod(spec: Draft, method: string): Draft {
  const exchange = isDraft(spec['exchange']) ? spec['exchange'] : {};
  if (exchange['method'] === method) return spec;
  const kept = Object.entries(exchange).filter(
    ([key]) => key !== 'layers' && PLAN_KEYS.some((known) => known === key),
  );
  return { ...spec, exchange: { ...Object.fromEntries(kept), method } };
}

/** @throws GradwireError `PLAN_VALUE_INVALID` */
export function planRequest(base: Draft, place: PlanPlace): PlanRequest {
  const { compute, machines, parameters, ranks } = place;
  return {
    spec: plannedSpec(base, place),
    ...(ranks === undefined
      ? {}
      : { ranks: [readCount(ranks, MOST_PLANNED_RANKS, 'ranks')] }),
    ...(machines === undefined
      ? {}
      : { machines: readCount(machines, MOST_PLANNED_RANKS, 'machines') }),
    ...(compute === undefined ? {} : { compute: readMilliseconds(compute) }),
    ...(parameters === undefined
      ? {}
      : { parameters: readCount(parameters, MOST_ELEMENTS, 'parameters') }),
    curve: axisOf(place),
  };
}

export const axisOf = ({ axis }: PlanPlace): CurveAxis =>
  CURVE_AXES.find((one) => one === axis) ?? 'bandwidth';

/** The command that predicts the same. */
export function planCommand(place: PlanPlace, compute: number): string {
  const settings = [
    ...(place.method === undefined ? [] : [`exchange.method=${place.method}`]),
    ...(place.collective === undefined
      ? []
      : [`exchange.collective=${place.collective}`]),
    ...[...readOptions(place.options)].map(
      ([key, value]) => `exchange.${key}=${String(value)}`,
    ),
    ...(place.bandwidth === undefined ? [] : [`network.bandwidth=${place.bandwidth}`]),
    ...(place.bandwidth === undefined || place.latency === undefined
      ? []
      : [`network.latency=${place.latency}`]),
  ];
  const options = [
    ...(['ranks', 'machines', 'parameters'] as const).flatMap((key) => {
      const value = place[key];
      if (value === undefined) return [];
      const count = key === 'parameters' ? value : (readCountText(value) ?? value);
      return [`--${key} ${shellWord(String(count))}`];
    }),
    `--compute ${Number(compute.toPrecision(6))}`,
  ];
  const source = place.run === undefined ? (place.preset ?? 'quickstart') : 'spec.yaml';
  return [
    `gradwire plan ${source}`,
    ...settings.map((setting) => `--set ${shellWord(setting)}`),
    ...options,
  ].join(' ');
}
