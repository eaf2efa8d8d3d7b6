/** Codes, with what each means and the next step: ranks of a run. */
import { codeGroup } from './code-group.ts';

export const ranksCodes = codeGroup({
  title: 'Ranks of a run',
  about:
    'What ends a run from within: processes, links between ranks, numbers that are not finite.',
  codes: {
    ACTIVATION_NOT_FINITE: {
      means: 'An activation or its gradient, sent between stages, is NaN or infinite.',
      next: 'Lower the learning rate, or check the data.',
    },
    COLLECTIVE_STATE_INVALID: {
      means: 'A saved state of a collective cannot be restored.',
      next: 'Restore what `save` returned, on the same rank and version.',
    },
    ENGINE_LOST: {
      means: 'The engine thread of a rank ended.',
      next: 'Read the log of that rank, and launch the run again.',
    },
    FRAME_BACKLOG: {
      means: 'A rank sent far more than was asked for: the ranks are out of step.',
      next: 'Report it with the log of the run.',
    },
    FRAME_INVALID: {
      means: 'Bytes that arrived are no message of Gradwire.',
      next: 'Check that nothing else uses those ports, and that all machines have the same version.',
    },
    FRAME_TOO_LARGE: {
      means: 'A message is larger than any of Gradwire.',
      next: 'Check that the peer is a Gradwire agent of the same version.',
    },
    FRAME_VERSION_MISMATCH: {
      means: 'Ranks of different versions cannot exchange messages.',
      next: 'Deploy the same version of the agent on every machine.',
    },
    GRADIENT_NOT_FINITE: {
      means: 'A gradient is NaN or infinite.',
      next: 'Lower the learning rate, or check the data of that rank.',
    },
    KERNEL_THREAD_LOST: {
      means: 'A thread that computes for a rank ended.',
      next: 'Launch the run again; if it happens again, use one thread per rank.',
    },
    LINK_NOT_EMULATED: {
      means: 'A peer does not emulate the network that this rank emulates.',
      next: 'Set the same network for all ranks, and deploy the same version everywhere.',
    },
    LISTEN_FAILED: {
      means: 'A rank cannot listen on its address.',
      next: "Set an address of the machine's own: gradwire nodes edit NAME --address.",
    },
    LOSS_NOT_FINITE: {
      means: 'The training loss, or its metric, is NaN or infinite.',
      next: 'Lower the learning rate, or check the data of that rank.',
    },
    METHOD_STATE_INVALID: {
      means: 'A saved state belongs to another method, model or size.',
      next: 'Start the run again.',
    },
    ORDER_DUPLICATE: {
      means: 'An order of this type is already registered.',
      next: 'Register it under another type, once per process.',
    },
    ORDER_INVALID: {
      means:
        'An order to a run is not known, cannot be registered, or reached a rank in a wrong form.',
      next: 'Use the same version of Gradwire everywhere. Change the definition of an order of your own.',
    },
    PAYLOAD_INVALID: {
      means: 'Bytes that should be a payload of the method are not.',
      next: 'A file may be damaged; in a run, read the log of the rank that sent them.',
    },
    PEER_LOST: {
      means:
        'A rank closed its connections: its process has ended, or its machine is gone.',
      next: 'Read the log of that rank; it may have been killed.',
    },
    PEER_MISMATCH: {
      means:
        'A rank sent another message than was expected: the ranks execute different steps.',
      next: 'Deploy the same version of the agent on every machine.',
    },
    PEER_SILENT: {
      means: 'A rank gives no sign of life.',
      next: 'Its process may be suspended, its machine down or the link cut. onFailure: restart resumes such runs.',
    },
    PEER_TAMPERED: {
      means: 'Encrypted bytes were changed on the way.',
      next: 'Something changes messages between the machines. Do not trust that network.',
    },
    PEER_TIMEOUT: {
      means: 'A rank lives but did not do its part in time.',
      next: 'Check what that rank is doing; if it is only slow, raise timeoutSeconds.',
    },
    PEER_UNAUTHENTICATED: {
      means: 'A connection could not prove that it belongs to this run.',
      next: 'Another process may have taken the port, or only one side encrypts. Launch the run again.',
    },
    PEER_UNREACHABLE: {
      means: 'A rank cannot be reached at the address of its machine.',
      next: 'Set an address that the others reach (gradwire nodes edit NAME --address), and open its ports.',
    },
    PORTS_TAKEN: {
      means: 'All ports that ranks of the machine may use are taken.',
      next: 'Give the machine a wider range (--ports), or end the processes that use them.',
    },
    RANK_NOT_STARTED: {
      means: 'A rank did not start in time.',
      next: 'Check that the machine responds, that its data can be read, and that setup lines finish.',
    },
    RANK_SILENT: {
      means: 'A rank did not respond while the others gave up.',
      next: 'The machine may be overloaded. If it is only slow, raise patienceSeconds.',
    },
    REPORT_INVALID: {
      means: 'A rank reported something that makes no sense.',
      next: 'Use the same version of Gradwire everywhere; otherwise report it as a bug.',
    },
    STREAM_INDEX_OUT_OF_RANGE: {
      means: 'A sparse payload names an element that the vector does not have.',
      next: 'A rank sent a corrupt payload: read the log of the run.',
    },
    TORCH_LOST: {
      means: 'The process that computes a rank’s model with PyTorch ended.',
      next: 'Read the log of that rank; memory may have run out.',
    },
    TRAINER_LOST: {
      means: 'A thread that computes gradients ended.',
      next: 'Read the log of that rank; memory may have run out.',
    },
    WORKER_DIED: {
      means: 'The process of a rank ended unexpectedly.',
      next: 'Read its last lines in the message. After SIGKILL look for the out-of-memory killer (dmesg).',
    },
    WORKER_SILENT: {
      means: 'The process of a rank does not respond.',
      next: 'Check that it is not suspended and that the disk with its file responds.',
    },
  },
});
