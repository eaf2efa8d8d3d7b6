/**
 * A phase's title and colour, which is Okabe–Ito's in the style sheet. Its pattern is in
 * `export/picture/phase-patterns.ts`.
 */
import type { Phase } from '../../shared/records/phases.ts';

export interface PhaseStyle {
  readonly title: string;
  /** A description that the legend explains it by. */
  readonly meaning: string;
  readonly property: string;
}

export const PHASE_STYLES: Readonly<Record<Phase, PhaseStyle>> = {
  data: {
    title: 'data',
    meaning: 'reading and preparing the batch',
    property: '--phase-data',
  },
  compute: {
    title: 'compute',
    meaning: 'forward and backward pass',
    property: '--phase-compute',
  },
  forward: {
    title: 'forward',
    meaning: 'forward passes over the layers of this stage',
    property: '--phase-forward',
  },
  backward: {
    title: 'backward',
    meaning: 'backward passes over the layers of this stage',
    property: '--phase-backward',
  },
  activations: {
    title: 'activations',
    meaning: 'sending activations and their gradients between stages',
    property: '--phase-activations',
  },
  bubble: {
    title: 'bubble',
    meaning: 'idle until another stage has computed',
    property: '--phase-bubble',
  },
  compress: {
    title: 'compress',
    meaning: 'selecting or quantising the gradient',
    property: '--phase-compress',
  },
  send: {
    title: 'send',
    meaning: 'writing bytes to the sockets',
    property: '--phase-send',
  },
  receive: {
    title: 'receive',
    meaning: 'reading bytes from the sockets',
    property: '--phase-receive',
  },
  wait: {
    title: 'wait',
    meaning: 'idle until another rank delivers',
    property: '--phase-wait',
  },
  reduce: {
    title: 'reduce',
    meaning: 'summing what the ranks sent',
    property: '--phase-reduce',
  },
  decompress: {
    title: 'decompress',
    meaning: 'turning payloads back into a gradient',
    property: '--phase-decompress',
  },
  apply: {
    title: 'apply',
    meaning: 'the optimiser’s step',
    property: '--phase-apply',
  },
  other: {
    title: 'other',
    meaning: 'time that no other phase explains',
    property: '--phase-other',
  },
};
