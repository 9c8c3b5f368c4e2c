/** FNV-1a over the UTF-16 units of a text, 32 bits, 0 or above: against slips and for spreading, not against attackers. */
export function fnv1a(text: string, basis = 0x811c9dc5): number {
  let sum = basis
  for (let at = 0; at < text.length; at += 1) sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193)
  return sum >>> 0
}
