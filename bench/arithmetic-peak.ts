/**
 * The most that one thread can multiply and add in WebAssembly: twelve vectors of four
 * numbers in registers, no memory. What a model on the CPU is measured against.
 * `node bench/arithmetic-peak.ts`
 */
import asc from 'assemblyscript/asc';
import { median } from './quantiles.ts';

const VECTORS = 12;
const LANES = 4;
const TURNS = 20_000_000;
const ROUNDS = 7;

type Loop = (turns: number) => number;

const forms: Readonly<Record<string, (sum: string) => string>> = {
  'multiply, then add': (sum) => `f32x4.add(${sum}, f32x4.mul(a, b))`,
  'fused (relaxed SIMD)': (sum) => `f32x4.relaxed_madd(a, b, ${sum})`,
};

async function compile(step: (sum: string) => string): Promise<Loop> {
  const names = Array.from({ length: VECTORS }, (_, i) => `v${i}`);
  const source = `
    export function run(turns: i32): f32 {
      let a = f32x4.splat(0.999);
      const b = f32x4.splat(0.5);
      ${names.map((name) => `let ${name} = f32x4.splat(0.0);`).join('\n')}
      for (let i = 0; i < turns; i++) {
        ${names.map((name) => `${name} = ${step(name)};`).join('\n')}
        a = f32x4.add(a, b);
      }
      ${names
        .slice(1)
        .map((name) => `v0 = f32x4.add(v0, ${name});`)
        .join('\n')}
      return f32x4.extract_lane(v0, 0);
    }`;
  const { binary, error, stderr } = await asc.compileString(source, {
    optimizeLevel: 3,
    runtime: 'stub',
    enable: ['simd', 'relaxed-simd'],
  });
  if (error !== null || binary === null) throw new Error(stderr.toString());
  const module = new WebAssembly.Module(binary as Uint8Array<ArrayBuffer>);
  return new WebAssembly.Instance(module, {}).exports.run as Loop;
}

for (const [form, step] of Object.entries(forms)) {
  const loop = await compile(step);
  loop(TURNS);
  const seconds = Array.from({ length: ROUNDS }, () => {
    const start = performance.now();
    loop(TURNS);
    return (performance.now() - start) / 1000;
  });
  const operations = 2 * VECTORS * LANES * TURNS;
  console.log(`${form}: ${(operations / median(seconds) / 1e9).toFixed(1)} GFLOP/s`);
}
