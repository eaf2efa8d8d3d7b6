/** Philox 4×32-10 in WGSL: `philox(counter, key)` gives four words, as `random.ts` does. */
export const philox = /* wgsl */ `
fn multiply_high(a: u32, b: u32) -> u32 {
  let low = (a & 0xffffu) * (b & 0xffffu);
  let first = (a >> 16u) * (b & 0xffffu) + (low >> 16u);
  let second = (a & 0xffffu) * (b >> 16u) + (first & 0xffffu);
  return (a >> 16u) * (b >> 16u) + (first >> 16u) + (second >> 16u);
}

fn philox(counter: vec4<u32>, key: vec2<u32>) -> vec4<u32> {
  var c = counter;
  var k = key;
  for (var round = 0u; round < 10u; round++) {
    let high0 = multiply_high(0xd2511f53u, c.x);
    let low0 = 0xd2511f53u * c.x;
    let high1 = multiply_high(0xcd9e8d57u, c.z);
    let low1 = 0xcd9e8d57u * c.z;
    c = vec4(high1 ^ c.y ^ k.x, low1, high0 ^ c.w ^ k.y, low0);
    k += vec2(0x9e3779b9u, 0xbb67ae85u);
  }
  return c;
}
`;
