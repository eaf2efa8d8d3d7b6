/** Values of single settings of ~/.ssh/config, as a target has them. */
import type { HostKeyChecking } from '../target.ts';
import { configInvalid } from './config-file.ts';

/**
 * The agent's socket by IdentityAgent; undefined: none is used.
 * @param expand expands a configured path
 */
export function agentOf(
  value: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
  expand: (text: string) => string,
): string | undefined {
  if (value === undefined || value === 'SSH_AUTH_SOCK')
    return environment['SSH_AUTH_SOCK'];
  if (value === 'none') return undefined;
  return /^\$\w+$/.test(value) ? environment[value.slice(1)] : expand(value);
}

/**
 * The value of StrictHostKeyChecking.
 * @throws GradwireError `SSH_CONFIG_INVALID`
 */
export function checkingOf(value: string | undefined, place: string): HostKeyChecking {
  switch (value?.toLowerCase()) {
    case undefined:
    case 'ask':
      return 'ask';
    case 'yes':
    case 'true':
      return 'yes';
    case 'no':
    case 'off':
    case 'false':
      return 'no';
    case 'accept-new':
      return 'accept-new';
    default:
      throw configInvalid(`StrictHostKeyChecking ${value} is not valid`, place);
  }
}

/**
 * A number of digits.
 * @throws GradwireError `SSH_CONFIG_INVALID`
 */
export function numberOf(
  text: string | undefined,
  otherwise: number,
  place: string,
): number {
  if (text === undefined) return otherwise;
  if (!/^\d+$/.test(text)) throw configInvalid(`${text} is not a number`, place);
  return Number(text);
}

const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  s: 1,
  m: 60,
  h: 3600,
  d: 86_400,
  w: 604_800,
};

/** Seconds of OpenSSH's time formats: 90, 1m30. */
function seconds(text: string, place: string): number {
  if (!/^(\d+[smhdw]?)+$/i.test(text))
    throw configInvalid(`${text} is not a time`, place);
  let sum = 0;
  for (const [, number, unit] of text.toLowerCase().matchAll(/(\d+)([smhdw]?)/g)) {
    sum += Number(number) * UNITS[unit!]!;
  }
  return sum;
}

/** ConnectTimeout as a target's setting; absent for OpenSSH's default. */
export function connectTimeout(
  text: string | undefined,
  place: string,
): { readonly connectTimeoutMs?: number } {
  if (text === undefined || text === 'none') return {};
  const given = seconds(text, place);
  return given === 0 ? {} : { connectTimeoutMs: 1000 * given };
}

/** ServerAliveInterval as a target's setting. 0, OpenSSH's default, means none at all; a cut connection would go unnoticed. */
export function keepalive(
  text: string | undefined,
  place: string,
): { readonly keepaliveSeconds?: number } {
  if (text === undefined) return {};
  const given = seconds(text, place);
  return given === 0 ? {} : { keepaliveSeconds: given };
}
