/**
 * Patterns of phases, which tell them apart without colour: on the page, in saved pictures and in
 * reports. Sending and receiving always have theirs, as they are two directions of one thing; the
 * other phases have them where the user asks for patterns.
 */
import type { Phase } from '../../shared/records/phases.ts';

export type Pattern = 'plain' | 'dots' | 'rising' | 'falling' | 'level' | 'upright';

const PATTERNS: Readonly<Record<Phase, Pattern>> = {
  data: 'plain',
  compute: 'plain',
  forward: 'plain',
  backward: 'upright',
  activations: 'rising',
  bubble: 'level',
  compress: 'dots',
  send: 'rising',
  receive: 'falling',
  wait: 'level',
  reduce: 'upright',
  decompress: 'dots',
  apply: 'plain',
  other: 'plain',
};

/** @param all whether the user asks for the patterns of all phases */
export const phasePattern = (phase: Phase, all: boolean): Pattern =>
  all || phase === 'send' || phase === 'receive' ? PATTERNS[phase] : 'plain';
