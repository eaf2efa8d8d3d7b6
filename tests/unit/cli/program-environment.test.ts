/** The variables that `gradwire exec` passes on to a program on this computer. */
import { expect, test } from 'vitest';
import { programEnvironment } from '../../../src/cli/session/program-environment.ts';

const shell = {
  PATH: '/opt/venv/bin:/usr/bin',
  VIRTUAL_ENV: '/opt/venv',
  PYTHONPATH: '/opt/lib',
  CUDA_VISIBLE_DEVICES: '1,3',
  OMP_NUM_THREADS: '4',
  NCCL_DEBUG: 'INFO',
  HF_HOME: '/data/hf',
  AWS_SECRET_ACCESS_KEY: 'secret',
  CUDA_: undefined,
};

test('are those that choose its Python, its libraries and its GPUs, and no others', () => {
  expect(programEnvironment([], true, shell)).toEqual({
    PATH: '/opt/venv/bin:/usr/bin',
    VIRTUAL_ENV: '/opt/venv',
    PYTHONPATH: '/opt/lib',
    CUDA_VISIBLE_DEVICES: '1,3',
    OMP_NUM_THREADS: '4',
    NCCL_DEBUG: 'INFO',
  });
});

test('are none of this computer’s where ranks run elsewhere, except those that are named', () => {
  expect(programEnvironment([], false, shell)).toEqual({});
  expect(programEnvironment(['HF_HOME', 'A=b=c', 'EMPTY='], false, shell)).toEqual({
    HF_HOME: '/data/hf',
    A: 'b=c',
    EMPTY: '',
  });
});

test('are refused by a name that has no value', () => {
  expect(() => programEnvironment(['HF_TOKEN'], true, shell)).toThrow(
    expect.objectContaining({
      code: 'ENVIRONMENT_INVALID',
      place: '--env HF_TOKEN',
    }),
  );
});
