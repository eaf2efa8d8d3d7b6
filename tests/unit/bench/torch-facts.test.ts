/** The line about a PyTorch whose times stand beside ours. */
import { expect, it } from 'vitest';
import { factsText } from '../../../bench/peers/torch-facts.ts';

const facts = { torch: '2.13.0+cpu', threads: 1, blas: 'MKL', capability: 'AVX2' };

it('says what the times depend on', () => {
  const cores = [{ model: 'AMD EPYC ' }, { model: 'AMD EPYC ' }];
  expect(factsText(facts, cores)).toBe(
    'PyTorch 2.13.0+cpu, MKL, AVX2, 1 thread; 2 cores, AMD EPYC',
  );
  expect(factsText({ ...facts, threads: 4, blas: 'no MKL' }, [{ model: '' }])).toBe(
    'PyTorch 2.13.0+cpu, no MKL, AVX2, 4 threads; 1 core',
  );
});
