/**
 * Settings on the command line. `--set key=value` changes a spec before it is validated;
 * `--switch ITER:key=value[,key=value]…` schedules a change of the exchange plan. Keys
 * are dotted paths, values are YAML.
 */
import type { ErrorCode } from '../../shared/codes/error-code.ts';
import { inputError } from '../../shared/errors/errors.ts';
import { RESIDUAL_POLICIES } from '../../shared/plan/exchange-plan.ts';
import type { JsonValue } from '../../shared/checks/json.ts';
import type { SwitchRequest } from '../../shared/protocol/supervisor.ts';
import { withPathValues } from '../../shared/spec/set-values.ts';
import { YamlFault, yamlValue } from './yaml-value.ts';

interface Setting {
  readonly path: readonly string[];
  readonly value: JsonValue;
  /** Whether `null` was written explicitly; an empty value is a mistake. */
  readonly isNull: boolean;
}

/**
 * A copy of the raw spec with all settings applied, in order: a later one may change what an
 * earlier one set. `key=null` removes the key. Naming another
 * method drops the old method's parameters and layers.
 * @throws GradwireError `SETTING_INVALID`
 */
export function applySettings(raw: unknown, settings: readonly string[]): unknown {
  const parsed = settings.map((text) => parseSetting(text, '--set', 'SETTING_INVALID'));
  return withPathValues(
    raw,
    parsed.map(({ isNull, path, value }) => ({
      path,
      value: isNull ? undefined : value,
    })),
    (section, index) =>
      inputError('SETTING_INVALID', `"${section}" has no keys inside it`, {
        place: `--set ${settings[index]!}`,
        next: `Set "${section}" itself.`,
      }),
  );
}

/**
 * `50:method=topk,ratio=0.01` as a request. `residual` is flush or drop: what to do with
 * a residual that the new method cannot take over.
 * @throws GradwireError `SWITCH_INVALID`
 */
export function parseSwitch(text: string): SwitchRequest {
  const place = `--switch ${text}`;
  const colon = text.indexOf(':');
  const at = colon < 0 ? NaN : Number(text.slice(0, colon));
  if (!Number.isSafeInteger(at) || at < 1 || text.slice(0, colon).trim() === '') {
    const given = colon < 0 ? 'but it is missing' : `not "${text.slice(0, colon)}"`;
    throw inputError('SWITCH_INVALID', `the iteration must be 1 or more, ${given}`, {
      place,
      next: 'Write it as --switch 50:method=topk,ratio=0.01.',
    });
  }
  return { at, ...parseChange(text.slice(colon + 1), place) };
}

/**
 * `method=topk,ratio=0.01` as the change of a switch.
 * @throws GradwireError `SWITCH_INVALID`
 */
export function parseChange(
  text: string,
  place: string,
): Pick<SwitchRequest, 'change' | 'residual'> {
  const code = 'SWITCH_INVALID';
  const change: Record<string, JsonValue> = {};
  const given = new Set<string>();
  let residual: SwitchRequest['residual'];
  // A comma separates only if a key follows; YAML's own commas stay in their value.
  for (const part of text.split(/,(?=\s*[A-Za-z][\w.]*\s*=)/)) {
    const { path, value } = parseSetting(part, place, code, 'method=topk');
    const key = path.join('.');
    refuseSecond(key, given, place, code);
    if (key === 'residual') {
      residual = RESIDUAL_POLICIES.find((policy) => policy === value);
      if (residual === undefined) {
        throw inputError(code, `residual is ${JSON.stringify(value)}`, {
          place,
          next: `Valid values: ${RESIDUAL_POLICIES.join(', ')}.`,
        });
      }
    } else change[key] = value;
  }
  return { change, ...(residual === undefined ? {} : { residual }) };
}

/**
 * Settings such as `ratio=0.01` as the parameters of a method. Unlike a spec, which a later
 * setting may change again, they have one source: a key has one value.
 * @throws GradwireError `SETTING_INVALID`
 */
export function parseParameters(
  texts: readonly string[],
  place: string,
): Record<string, JsonValue> {
  const code = 'SETTING_INVALID';
  const given = new Set<string>();
  return Object.fromEntries(
    texts.map((text) => {
      const { path, value } = parseSetting(text, place, code, 'ratio=0.01');
      const key = path.join('.');
      refuseSecond(key, given, place, code);
      return [key, value];
    }),
  );
}

/**
 * `exchange.ratio=0.01,0.001` as a key of a sweep and its values.
 * @throws GradwireError `SETTING_INVALID`
 */
export function parseVariation(text: string): readonly [string, readonly JsonValue[]] {
  const place = `--vary ${text}`;
  const equals = text.indexOf('=');
  const listed =
    equals < 1 ? text : `${text.slice(0, equals)}=[${text.slice(equals + 1)}]`;
  const { path, value } = parseSetting(
    listed,
    place,
    'SETTING_INVALID',
    'exchange.method=topk,qsgd',
  );
  return [path.join('.'), value as readonly JsonValue[]];
}

function refuseSecond(
  key: string,
  given: Set<string>,
  place: string,
  code: ErrorCode,
): void {
  if (given.has(key)) {
    throw inputError(code, `"${key}" is given twice`, { place, next: 'Give it once.' });
  }
  given.add(key);
}

function parseSetting(
  text: string,
  place: string,
  code: ErrorCode,
  example = 'exchange.method=topk',
): Setting {
  const equals = text.indexOf('=');
  const path = text
    .slice(0, Math.max(equals, 0))
    .split('.')
    .map((key) => key.trim());
  if (path.includes('__proto__')) {
    throw inputError(code, `"${path.join('.')}" is no key that can be set`, {
      place,
      next: 'Use a key of docs/reference/spec.md.',
    });
  }
  if (equals < 0 || path.includes('')) {
    throw inputError(code, `"${text}" is not key=value`, {
      place,
      next: `Write it as key=value, for example ${example}.`,
    });
  }
  try {
    const written = text.slice(equals + 1);
    const value = (yamlValue(written) ?? null) as JsonValue;
    return { path, value, isNull: value === null && written.trim() !== '' };
  } catch (cause) {
    if (!(cause instanceof YamlFault)) throw cause;
    throw inputError(
      code,
      `the value of "${path.join('.')}" cannot be used: ${cause.message}`,
      {
        place,
        next: 'Write plain YAML; quote a text, once for the shell and once for YAML.',
      },
    );
  }
}
