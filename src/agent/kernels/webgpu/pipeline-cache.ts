/**
 * The pipelines that a device compiled from kernels in WGSL: compiled at first use, kept
 * as long as the device.
 */
import type { KernelSource } from '../wgsl/kernel-source.ts';

export interface Pipeline {
  readonly pipeline: GPUComputePipeline;
  readonly layout: GPUBindGroupLayout;
}

/**
 * The most words of parameters, with the positions of arrays and a zero: a slot of 256
 * bytes.
 */
export const SLOT_WORDS = 64;

export class PipelineCache {
  readonly #device: GPUDevice;
  readonly #subgroups: boolean;
  readonly #pipelines = new Map<KernelSource, Pipeline>();

  constructor(device: GPUDevice, subgroups: boolean) {
    this.#device = device;
    this.#subgroups = subgroups;
  }

  get(kernel: KernelSource): Pipeline {
    let pipeline = this.#pipelines.get(kernel);
    if (pipeline === undefined) {
      pipeline = this.#compile(kernel);
      this.#pipelines.set(kernel, pipeline);
    }
    return pipeline;
  }

  #compile(kernel: KernelSource): Pipeline {
    const device = this.#device;
    const label = kernel.name;
    const accesses = Object.values(kernel.bindings);
    const layout = device.createBindGroupLayout({
      label,
      entries: [
        {
          binding: 0,
          visibility: GPUShaderStage.COMPUTE,
          buffer: { type: 'uniform', hasDynamicOffset: true },
        },
        ...accesses.map((access, index) => ({
          binding: index + 1,
          visibility: GPUShaderStage.COMPUTE,
          buffer: {
            type: access === 'read' ? ('read-only-storage' as const) : 'storage',
          } as const,
        })),
      ],
    });
    const module = device.createShaderModule({
      label,
      code: sourceText(kernel, this.#subgroups),
    });
    const pipeline = device.createComputePipeline({
      label,
      layout: device.createPipelineLayout({ label, bindGroupLayouts: [layout] }),
      compute: { module, entryPoint: 'main' },
    });
    return { pipeline, layout };
  }
}

/** The fields of a kernel's parameters, in their order in memory. */
export function fieldsOf(kernel: KernelSource): string[] {
  const places = Object.keys(kernel.bindings).map((name) => `${name}At`);
  const fields = ['zero', ...places, ...kernel.parameters];
  if (fields.length > SLOT_WORDS) {
    throw new Error(`internal: ${kernel.name} has ${fields.length} parameters`);
  }
  return fields;
}

/** The whole module: declarations, then the kernel's code. */
function sourceText(kernel: KernelSource, subgroups: boolean): string {
  const arrays = Object.entries(kernel.bindings).map(([name, access], index) => {
    const mode = access === 'read' ? 'read' : 'read_write';
    const element = access === 'atomic' ? 'atomic<u32>' : 'u32';
    return `@group(0) @binding(${index + 1}) var<storage, ${mode}> ${name}: array<${element}>;`;
  });
  const code = kernel.code(subgroups);
  return [
    // A kernel that does not use subgroups has a single source text, so a device compiles
    // it once.
    code.includes('subgroup') ? 'enable subgroups;' : '',
    `struct Parameters { ${fieldsOf(kernel)
      .map((field) => `${field}: u32`)
      .join(', ')} }`,
    '@group(0) @binding(0) var<uniform> parameters: Parameters;',
    ...arrays,
    code,
  ].join('\n');
}
