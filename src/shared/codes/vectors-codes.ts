/** Codes, with what each means and the next step: vectors and payload files. */
import { codeGroup } from './code-group.ts';

export const vectorsCodes = codeGroup({
  title: 'Vectors and payload files',
  about: '`gradwire compress`, `decompress` and `allreduce`, and `gradwire/engine`.',
  codes: {
    COMPRESSION_OVERFLOW: {
      means: 'The vector plus the kept residual is outside the range of f32.',
      next: 'Scale the vectors down. The state is as it was before this vector.',
    },
    CONTAINER_CORRUPT: {
      means: 'A payload or state file is damaged.',
      next: 'Copy or create it again.',
    },
    CONTAINER_TRUNCATED: {
      means: 'A payload or state file ends too early.',
      next: 'Copy or create it again.',
    },
    CONTAINER_UNKNOWN: {
      means: 'The file is not one of gradwire compress, or of a newer version.',
      next: 'Give a file written by gradwire compress.',
    },
    OPTION_INVALID: {
      means: 'An option given to the library is outside its range.',
      next: 'Correct it; docs/engine.md has the range of each.',
    },
    PAYLOAD_NEEDS_GRADIENT: {
      means:
        "The method's payload has no values per element; the rest of the gradient stays on its rank.",
      next: 'Also give the vector that was compressed: --gradient FILE.',
    },
    RANK_DISPOSED: {
      means: 'The object of the library has been disposed of.',
      next: 'Make another one, or dispose of it later.',
    },
    SHAPE_INVALID: {
      means: "The shape's product is not the number of elements.",
      next: 'Give a --shape such as 784x200 that fits.',
    },
    STATE_MISMATCH: {
      means: 'The state belongs to other settings.',
      next: 'Continue with the same settings, or give a new file to start over.',
    },
    VECTOR_LENGTHS_DIFFER: {
      means: "The ranks' vectors have different lengths.",
      next: 'Give every rank a vector of the same length.',
    },
    VECTOR_LENGTH_INVALID: {
      means: 'The vector has another length than declared.',
      next: 'Give vectors of the declared length.',
    },
    VECTOR_NOT_FINITE: {
      means: 'The vector has a NaN or an infinity.',
      next: 'Only finite values can be compressed. Check what computed them.',
    },
    VECTOR_SIZE_INVALID: {
      means: 'The file is not a whole number of floats.',
      next: 'Give raw little-endian floats of the type in the message.',
    },
    VECTOR_TOO_LARGE: {
      means: 'The vector has more elements than can be compressed at once.',
      next: 'Split it, as a run splits a model into buckets.',
    },
  },
});
