/** Codes, with what each means and the next step: machines. */
import { codeGroup } from './code-group.ts';

export const machinesCodes = codeGroup({
  title: 'Machines',
  about: 'Adding, checking, deploying to and measuring machines.',
  codes: {
    AGENT_TOO_OLD: {
      means: 'The agent on the machine is too old for this.',
      next: 'Let its runs end, then try again: Gradwire updates the agent.',
    },
    ATTACH_FAILED: {
      means: 'The agent on the machine did not answer.',
      next: 'Read its log: gradwire nodes log NAME. If it is damaged: gradwire nodes deploy NAME.',
    },
    DEPLOY_FAILED: {
      means: 'The agent could not be installed on the machine.',
      next: 'Check space and permissions there, then try again.',
    },
    GLIBC_TOO_OLD: {
      means: "The machine's glibc is older than Node needs.",
      next: 'Use a newer machine, or put a Node 24 that runs there on its PATH.',
    },
    LIBC_UNSUPPORTED: {
      means: "The machine uses musl; Gradwire's Node needs glibc.",
      next: 'Use another machine.',
    },
    LIBRARY_MISSING: {
      means: 'A library that Node needs is not installed on the machine.',
      next: 'Install it there (libstdc++).',
    },
    LINK_CHECK_BUSY: {
      means: 'Something else is being measured on the machine.',
      next: 'Try again in a minute.',
    },
    LINK_CHECK_EMPTY: {
      means: 'A machine returned no usable measurement.',
      next: 'Deploy the same version of the agent on both machines.',
    },
    LINK_CHECK_OVER: {
      means: 'One end of the measurement has been closed.',
      next: 'Measure it again.',
    },
    LINK_CHECK_TIMEOUT: {
      means: 'The measurement of a link did not finish in time.',
      next: 'A machine may be overloaded, or the link very slow. Try again.',
    },
    LINK_LOST: {
      means: 'The link broke during the measurement.',
      next: 'Measure it again.',
    },
    LINK_UNREACHABLE: {
      means: 'Two machines cannot connect to each other.',
      next: 'Check for a firewall between them; set another address or ports with gradwire nodes edit.',
    },
    LOG_UNREADABLE: {
      means: "The supervisor's log cannot be read.",
      next: 'Check who owns it.',
    },
    NETWORK_PROFILE_INVALID: {
      means: 'The network profile is not valid.',
      next: 'Measure one: gradwire bench network --ranks 2.',
    },
    NETWORK_PROFILE_UNKNOWN_KEY: {
      means: 'The network profile has an unknown key.',
      next: 'Measure it with this version.',
    },
    NETWORK_PROFILE_UNREADABLE: {
      means: 'The network profile cannot be read.',
      next: 'Measure one: gradwire bench network --out FILE.',
    },
    NODES_TOO_FEW: {
      means: 'Measuring links needs at least two machines.',
      next: 'Name another machine, or this-computer.',
    },
    NODE_ADDRESS_UNKNOWN: {
      means: 'The machine has not been connected, so its address is not known.',
      next: 'Check it: gradwire nodes check NAME.',
    },
    NODE_BUSY: {
      means: 'Something is already under way on the machine.',
      next: 'Wait for it, or cancel it.',
    },
    NODE_CHANGED: {
      means: "The machine's settings were changed elsewhere in the meantime.",
      next: 'Look at them, then repeat your change.',
    },
    NODE_EXISTS: {
      means: 'There is already a machine of that name.',
      next: 'Choose another name, or remove the other one.',
    },
    NODE_INVALID: {
      means: 'A setting of the machine is not valid.',
      next: 'Correct the value in the message.',
    },
    NODE_IN_USE: {
      means: 'The machine has ranks of a run, or records that are not fetched yet.',
      next: 'Stop the run first, or fetch the records.',
    },
    NODE_IS_SLURM: {
      means: 'Ranks of this machine run on nodes that Slurm allocates, not on itself.',
      next: 'Measure a machine on which ranks run.',
    },
    NODE_MISSING: {
      means: 'This installation has no Node to deploy for that platform.',
      next: 'Install Node 24 there and put it on the PATH.',
    },
    NODE_REMOVED: {
      means: 'The machine was removed during the run.',
      next: 'Records stored before that are kept.',
    },
    NODE_SILENT: {
      means: 'The machine does not answer in time.',
      next: 'It may be overloaded, or its login shell waits for something: try ssh in a terminal.',
    },
    NODE_UNKNOWN: {
      means: 'There is no machine of that name.',
      next: 'List them with gradwire nodes list, or add it with gradwire nodes add.',
    },
    NODE_UNUSABLE: {
      means: 'The deployed Node does not start on the machine.',
      next: 'Follow the reason in the message.',
    },
    PACKAGES_NOT_FETCHED: {
      means: "The packages for that platform could not be fetched from npm's registry.",
      next: "Connect this computer to the registry, or put a Node 24 on the machine's PATH.",
    },
    PLATFORM_UNSUPPORTED: {
      means: 'There is no Gradwire for that system and processor.',
      next: 'Use a machine with Linux on x86_64 or aarch64.',
    },
    PORTS_INVALID: {
      means: 'The range of ports is not valid.',
      next: 'Write it as --ports 20000-20100.',
    },
    PROGRAM_MISSING: {
      means: "A program that Gradwire needs is not on the machine's PATH.",
      next: 'Install it there.',
    },
    UNINSTALL_FAILED: {
      means: 'The agent could not be removed completely.',
      next: 'Remove agents, runtimes, incoming, cache and nodes in ~/.gradwire there by hand.',
    },
    UPLOAD_DAMAGED: { means: 'The upload arrived changed.', next: 'Try again.' },
  },
});
