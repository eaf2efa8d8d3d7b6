/**
 * The network of a plan: as a launch would hand it to the ranks. If the spec asks for an emulated
 * network, constants that it leaves out are those of the real one.
 */
import { LOOPBACK, type LinkCost } from '../../shared/cost-model/network-cost.ts';
import type { NetworkProfile } from '../../shared/cost-model/network-profile.ts';
import {
  describeEmulated,
  emulatedNetwork,
} from '../../shared/machines/emulated-network.ts';
import { LOCAL_NODE } from '../../shared/machines/node-entry.ts';
import { assignRanks, placesOf } from '../../shared/machines/rank-assignment.ts';
import type { ForecastWorld } from '../../shared/forecast/forecast-question.ts';
import { nodesOf, type ExperimentSpec } from '../../shared/spec/experiment-spec.ts';
import { formatBitRate, formatDuration } from '../../shared/words/units.ts';
import { networkOf, type Measured } from '../runs/run-network.ts';

/** Measurements that apply to a spec's machines. */
export interface MeasuredNetwork extends Measured {
  /** The file with this computer's profile, or with one for all machines. */
  readonly file: string;
  /** Whether one of the machines is the login node of a scheduler, which allots others to ranks. */
  readonly allotted?: boolean | undefined;
  /** Whether a user named the file. Its profile then holds for all machines. */
  readonly isGiven: boolean;
}

export interface PlanNetwork {
  readonly worldOf: (
    ranks: number,
    network?: ExperimentSpec['network'],
  ) => ForecastWorld;
  /** Names of the machines. */
  readonly nodes: readonly string[];
  /** The source of the constants, in words. */
  readonly origin: string;
}

/** @param machines equal machines in place of the spec's */
export function planNetwork(
  spec: Pick<ExperimentSpec, 'network' | 'world'>,
  measured: MeasuredNetwork,
  machines?: number,
): PlanNetwork {
  const names = nodesOf(spec);
  const known =
    machines === undefined ? measured : everywhere(measured, names[0]!, machines);
  const nodes = machines === undefined ? names : machineNames(machines);
  const world = { ...spec.world, nodes: [...nodes] };
  const { links } = known;
  const within = measured.isGiven
    ? `measured (${measured.file})`
    : withinText(names, measured.profiles, measured.file);
  return {
    nodes,
    worldOf: (ranks, network = spec.network) => ({
      ranks,
      network: networkOf({ world, network }, ranks, known) ?? LOOPBACK,
      places: placesOf(assignRanks(ranks, nodes)),
    }),
    origin:
      spec.network === undefined
        ? originOf(nodes, links, within)
        : describeEmulated(emulatedNetwork(spec.network)),
  };
}

const machineNames = (machines: number): readonly string[] =>
  Array.from({ length: machines }, (_, index) => `machine ${index + 1}`);

/** Machines that are all like the first one; the links between them are the measured ones. */
function everywhere(
  { links, profiles }: Measured,
  first: string,
  machines: number,
): { -readonly [K in keyof Measured]: Measured[K] } {
  const profile = profiles.get(first);
  const names = machineNames(machines);
  return {
    links,
    profiles: new Map(
      profile === undefined ? [] : names.map((name) => [name, profile] as const),
    ),
  };
}

function originOf(
  names: readonly string[],
  links: LinkCost | undefined,
  within: string,
): string {
  if (names.length === 1) return within;
  const between =
    links === undefined
      ? 'not measured between machines; Gigabit Ethernet is assumed (measure with gradwire nodes network)'
      : `measured between machines: the slowest links have ${formatBitRate(8 / links.beta)} ` +
        `and ${formatDuration(1000 * links.alpha)}`;
  return `${between}; within them ${within}`;
}

function withinText(
  names: readonly string[],
  profiles: ReadonlyMap<string, NetworkProfile>,
  file: string,
): string {
  const measured = names.filter((name) => profiles.has(name));
  if (measured.length === 0) {
    const remote = names.find((name) => name !== LOCAL_NODE);
    const command =
      remote === undefined || names.includes(LOCAL_NODE)
        ? 'gradwire bench network'
        : `gradwire bench network --node ${remote}`;
    return `not measured; loopback constants are assumed (measure with ${command})`;
  }
  const places = measured.map((name) => (name === LOCAL_NODE ? file : `on ${name}`));
  return `measured (${places.join(', ')})`;
}
