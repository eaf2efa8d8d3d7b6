/**
 * A phase's title and colour, which is Okabe–Ito's in the style sheet. Its pattern is in
 * `export/picture/phase-patterns.ts`.
 */
import { PHASES, type Phase } from '../../shared/records/phases.ts';

export interface PhaseStyle {
  readonly title: string;
  /** A description that the legend explains it by. */
  readonly meaning: string;
  readonly property: string;
}

const MEANINGS: Readonly<Record<Phase, string>> = {
  data: 'reading and preparing the batch',
  compute: 'forward and backward pass',
  forward: 'forward passes over the layers of this stage',
  backward: 'backward passes over the layers of this stage',
  activations: 'sending activations and their gradients between stages',
  bubble: 'idle until another stage has computed',
  compress: 'selecting or quantising the gradient',
  send: 'writing bytes to the sockets',
  receive: 'reading bytes from the sockets',
  wait: 'idle until another rank delivers',
  reduce: 'summing what the ranks sent',
  decompress: 'turning payloads back into a gradient',
  apply: 'the optimiser’s step',
  other: 'time that no other phase explains',
};

export const PHASE_STYLES = Object.fromEntries(
  PHASES.map((phase) => [
    phase,
    { title: phase, meaning: MEANINGS[phase], property: `--phase-${phase}` },
  ]),
) as Readonly<Record<Phase, PhaseStyle>>;
