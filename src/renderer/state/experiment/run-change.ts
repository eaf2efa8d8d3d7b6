/** The plan that the user edits in the switch panel, as keys of `exchange`. */
import type { Catalogue, MethodEntry } from '../../../shared/catalogue/catalogue.ts';
import {
  planAsChange,
  type ExchangePlan,
  type NamedPlan,
} from '../../../shared/plan/exchange-plan.ts';
import type { JsonObject, JsonValue } from '../../../shared/checks/json.ts';
import { hasServers } from './server-choice.ts';
import { isDraft, valueAt, withValue, type Draft } from './spec-draft.ts';

export type PlanChange = Readonly<Record<string, JsonValue>>;

/** Another method with its defaults; parameters that the current plan sets are kept. */
export function changeToMethod(
  method: MethodEntry,
  plan: ExchangePlan | undefined,
): PlanChange {
  let change: Draft = { method: method.id };
  for (const { key, default: usual } of method.parameters) {
    const value = valueAt(plan?.parameters ?? {}, key) ?? usual;
    if (value !== undefined) change = withValue(change, key, value);
  }
  const same = plan !== undefined && plan.method === method.id;
  return { ...change, collective: same ? plan.collective : 'auto' };
}

/** The layers of a change: tensors with their own method. */
export function layersOf(change: PlanChange): readonly JsonObject[] {
  const { layers } = change;
  return Array.isArray(layers)
    ? layers.filter(
        (layer): layer is JsonObject =>
          typeof layer === 'object' && layer !== null && !Array.isArray(layer),
      )
    : [];
}

/** A change to the method that suggests itself, if the plan's own does not compress. */
export function suggestedChange(
  methods: readonly MethodEntry[],
  plan: ExchangePlan,
): PlanChange | undefined {
  const current = methods.find(({ id }) => id === plan.method);
  const suggested = methods.find(({ invitation }) => invitation !== undefined);
  if (current?.uncompressed !== true || suggested === undefined) return undefined;
  return { ...changeToMethod(suggested, undefined), ...suggested.invitation };
}

/** Another collective; `servers` is kept only if the collective has servers. */
export function changeToCollective(
  catalogue: Pick<Catalogue, 'collectives'> | undefined,
  change: PlanChange,
  collective: JsonValue | undefined,
): PlanChange {
  const changed = withValue(change, 'collective', collective);
  return hasServers(catalogue, collective)
    ? changed
    : withValue(changed, 'servers', undefined);
}

/**
 * Tells what happens to the residual at the fence; undefined when there is none. Only the
 * agent knows which tensors match a layer or are small: where that could matter, the user is
 * asked.
 */
export function residualQuestion(
  { methods }: Pick<Catalogue, 'methods'>,
  plan: NamedPlan | undefined,
  change: PlanChange,
): 'kept' | 'asked' | undefined {
  if (plan === undefined) return undefined;
  const before = sharesOf(methods, planAsChange(plan, methods));
  const after = sharesOf(methods, change);
  if (!before.some(({ keeps }) => keeps)) return undefined;
  const alike = before.length === after.length;
  const sums = before.flatMap((share) => (share.keeps ? [share.of] : []));
  const stays = after.every((share, index) => {
    const old = alike ? before[index] : undefined;
    const keptNone = old?.keeps === false && old.match === share.match;
    const takes = share.keeps && sums.every((sum) => sum === share.of);
    return (takes || keptNone) && share.least <= (old?.least ?? 0);
  });
  return stays ? 'kept' : 'asked';
}

/** Tensors of one method: those that match a layer, or all others. */
interface Share {
  readonly match: JsonValue | undefined;
  readonly keeps: boolean;
  /** The things that the residual is a sum of. */
  readonly of: string | undefined;
  /** Tensors with fewer elements are sent dense. */
  readonly least: number;
}

function sharesOf(
  methods: readonly MethodEntry[],
  { layers, ...base }: PlanChange,
): readonly Share[] {
  const written = Array.isArray(layers) ? layers.filter(isDraft) : [];
  return [...written, base].map((own) => {
    const written = { ...base, ...own };
    const { match, method = base['method'] } = written;
    const entry = methods.find(({ id }) => id === method);
    const least = entry?.apartBelow === undefined ? 0 : written[entry.apartBelow];
    return {
      match,
      keeps:
        entry?.residual === true &&
        (entry.residualIf === undefined || written[entry.residualIf] === true),
      of: entry?.residualOf,
      least: typeof least === 'number' ? least : 0,
    };
  });
}
