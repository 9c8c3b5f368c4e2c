/**
 * FNV-1a hash over the UTF-16 units of a text, as an unsigned 32-bit integer. Detects accidental changes and spreads values; not safe
 * against attackers.
 */
export function fnv1a(text: string, basis = 0x811c9dc5): number {
  let sum = basis
  for (let at = 0; at < text.length; at += 1) sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193)
  return sum >>> 0
}
