/**
 * A phase's look and title: its colour (Okabe–Ito, from the style sheet) and its
 * pattern, for users who cannot tell the colours apart.
 */
import type { Phase } from '../../shared/records/phases.ts';

export type Pattern = 'plain' | 'dots' | 'rising' | 'falling' | 'level' | 'upright';

export interface PhaseStyle {
  readonly title: string;
  /** A description that the legend explains it by. */
  readonly meaning: string;
  readonly property: string;
  readonly pattern: Pattern;
}

export const PHASE_STYLES: Readonly<Record<Phase, PhaseStyle>> = {
  data: {
    title: 'data',
    meaning: 'reading and preparing the batch',
    property: '--phase-data',
    pattern: 'plain',
  },
  compute: {
    title: 'compute',
    meaning: 'forward and backward pass',
    property: '--phase-compute',
    pattern: 'plain',
  },
  forward: {
    title: 'forward',
    meaning: 'forward passes over the layers of this stage',
    property: '--phase-forward',
    pattern: 'plain',
  },
  backward: {
    title: 'backward',
    meaning: 'backward passes over the layers of this stage',
    property: '--phase-backward',
    pattern: 'upright',
  },
  activations: {
    title: 'activations',
    meaning: 'sending activations and their gradients between stages',
    property: '--phase-activations',
    pattern: 'rising',
  },
  bubble: {
    title: 'bubble',
    meaning: 'idle until another stage has computed',
    property: '--phase-bubble',
    pattern: 'level',
  },
  compress: {
    title: 'compress',
    meaning: 'selecting or quantising the gradient',
    property: '--phase-compress',
    pattern: 'dots',
  },
  send: {
    title: 'send',
    meaning: 'writing bytes to the sockets',
    property: '--phase-send',
    pattern: 'rising',
  },
  receive: {
    title: 'receive',
    meaning: 'reading bytes from the sockets',
    property: '--phase-receive',
    pattern: 'falling',
  },
  wait: {
    title: 'wait',
    meaning: 'idle until another rank delivers',
    property: '--phase-wait',
    pattern: 'level',
  },
  reduce: {
    title: 'reduce',
    meaning: 'summing what the ranks sent',
    property: '--phase-reduce',
    pattern: 'upright',
  },
  decompress: {
    title: 'decompress',
    meaning: 'turning payloads back into a gradient',
    property: '--phase-decompress',
    pattern: 'dots',
  },
  apply: {
    title: 'apply',
    meaning: 'the optimiser’s step',
    property: '--phase-apply',
    pattern: 'plain',
  },
  other: {
    title: 'other',
    meaning: 'time that no other phase explains',
    property: '--phase-other',
    pattern: 'plain',
  },
};
