/** A hash that makes a shortened or replaced name unique. Pure. */

export const SHORT_HASH_CHARS = 8;

/** FNV-1a over UTF-16 units, twice with different offsets: short, stable, not for secrets. */
export function shortHash(text: string): string {
  let a = 0x811c9dc5;
  let b = 0x050c5d1f;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    a = Math.imul(a ^ unit, 0x01000193);
    b = Math.imul(b ^ unit, 0x01000193);
  }
  const high = (a >>> 0).toString(16).padStart(8, '0').slice(0, 4);
  const low = (b >>> 0).toString(16).padStart(8, '0').slice(0, 4);
  return high + low;
}
