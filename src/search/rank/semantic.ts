/** Cosines of a query's vector with those of tools and of their servers' names. Pure, except that it caches per layout. */
import type { Parts } from '../index/part.ts';
import type { Tuning } from './tuning.ts';

/** Fixed-point 1 in an integer query vector. Even 4,096 dimensions of 127 sum to less than 2^31. */
const ONE = 4_096;

/** The vectors of a layout copied into one array: those of a thousand servers are spread over memory. */
interface Rows {
  embeddingId: number;
  /** Vectors of all places; 0 where there is none. */
  vectors: Int8Array;
  scales: Float32Array;
  /** The part of each place; -1 where the vectors are of another embedding. */
  partOf: Int32Array;
  /** Vectors of the servers' names, by part. */
  servers: Float32Array;
}

const known = new WeakMap<Parts, Rows>();

function toRows(all: Parts, embeddingId: number, dimensions: number): Rows {
  const before = known.get(all);
  if (before?.embeddingId === embeddingId) return before;
  const rows: Rows = {
    embeddingId,
    vectors: new Int8Array(all.places * dimensions),
    scales: new Float32Array(all.places),
    partOf: new Int32Array(all.places).fill(-1),
    servers: new Float32Array(all.parts.length * dimensions),
  };
  all.parts.forEach(({ segment, server, offset }, at) => {
    if (segment.embeddingId !== embeddingId || segment.dimensions !== dimensions) return;
    rows.vectors.set(segment.vectors, offset * dimensions);
    rows.scales.set(segment.vectorScales, offset);
    rows.partOf.fill(at, offset, offset + segment.size);
    rows.servers.set(server.vector, at * dimensions);
  });
  known.set(all, rows);
  return rows;
}

/**
 * Returns for each place the cosine with the tool plus, weighted, that with its server's name; 0 where the tool takes no part or its vector
 * is of another embedding.
 * @param vector of length 1
 */
export function toCosines(
  vector: Float32Array,
  embeddingId: number,
  all: Parts,
  { serverVectorWeight }: Tuning,
): Float32Array {
  const cosines = new Float32Array(all.places);
  const rows = toRows(all, embeddingId, vector.length);
  const shared = all.parts.map((_, at) => serverVectorWeight * multiplyPlain(vector, rows, at));
  const products = multiplyAll(toWhole(vector), rows.vectors, all.taking);
  for (let i = 0; i < products.length; i += 1) {
    const place = all.taking[i] ?? 0;
    const of = shared[rows.partOf[place] ?? -1];
    if (of === undefined) continue;
    cosines[place] = ((products[i] ?? 0) / ONE) * (rows.scales[place] ?? 0) + of;
  }
  return cosines;
}

function multiplyPlain(vector: Float32Array, { servers }: Rows, part: number): number {
  const from = part * vector.length;
  let sum = 0;
  for (let i = 0; i < vector.length; i += 1) {
    sum += (vector[i] as number) * (servers[from + i] as number);
  }
  return sum;
}

/**
 * Returns for each place the cosine with the model's vector of the tool; NaN where the tool takes no part or has no vector of these
 * dimensions; undefined where that holds for all.
 * @param vector of length 1, by the same model
 */
export function toModelCosines(vector: Float32Array, all: Parts): Float32Array | undefined {
  const cosines = new Float32Array(all.places).fill(NaN);
  const dimensions = vector.length;
  const whole = toWhole(vector);
  let isEmpty = true;
  for (const { segment, shown, offset, modelVectors } of all.parts) {
    if (modelVectors?.dimensions !== dimensions) continue;
    const { size, vectors, vectorScales } = modelVectors;
    for (let tool = 0; tool < Math.min(size, segment.size); tool += 1) {
      const scale = vectorScales[tool] ?? 0;
      if (scale === 0 || (shown && !shown[tool])) continue;
      cosines[offset + tool] = (multiply(whole, vectors, tool * dimensions) / ONE) * scale;
      isEmpty = false;
    }
  }
  return isEmpty ? undefined : cosines;
}

const toWhole = (vector: Float32Array): Int32Array =>
  Int32Array.from(vector, value => Math.round(value * ONE));

/** Integer dot product in four sums, which is several times as fast. The number of dimensions is a multiple of four. */
function multiply(whole: Int32Array, vectors: Int8Array, from: number): number {
  let [a, b, c, d] = [0, 0, 0, 0];
  for (let i = 0, at = from; i < whole.length; i += 4, at += 4) {
    a = (a + Math.imul(whole[i] as number, vectors[at] as number)) | 0;
    b = (b + Math.imul(whole[i + 1] as number, vectors[at + 1] as number)) | 0;
    c = (c + Math.imul(whole[i + 2] as number, vectors[at + 2] as number)) | 0;
    d = (d + Math.imul(whole[i + 3] as number, vectors[at + 3] as number)) | 0;
  }
  return a + b + c + d;
}

/** Dot products with many vectors, four at a time, which takes two thirds of the time. @param places of the vectors */
function multiplyAll(whole: Int32Array, vectors: Int8Array, places: Int32Array): Int32Array {
  const products = new Int32Array(places.length);
  const fours = places.length - (places.length % 4);
  const rowOf = (at: number): number => (places[at] as number) * whole.length;
  for (let at = 0; at < fours; at += 4) {
    const [from, second, third, fourth] = [rowOf(at), rowOf(at + 1), rowOf(at + 2), rowOf(at + 3)];
    let [a, b, c, d] = [0, 0, 0, 0];
    for (let i = 0; i < whole.length; i += 1) {
      const value = whole[i] as number;
      a = (a + Math.imul(value, vectors[from + i] as number)) | 0;
      b = (b + Math.imul(value, vectors[second + i] as number)) | 0;
      c = (c + Math.imul(value, vectors[third + i] as number)) | 0;
      d = (d + Math.imul(value, vectors[fourth + i] as number)) | 0;
    }
    products[at] = a;
    products[at + 1] = b;
    products[at + 2] = c;
    products[at + 3] = d;
  }
  for (let at = fours; at < places.length; at += 1) {
    products[at] = multiply(whole, vectors, rowOf(at));
  }
  return products;
}
