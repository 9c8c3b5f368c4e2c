/** Every scope that a key can have. */
export const scopes = [
  'inference:invoke',
  'keys:read',
  'keys:write',
  'byok:read',
  'byok:write',
  'billing:read',
  'billing:write',
  'usage:read',
  'workspace:read',
  'workspace:write',
  'routing:read',
  'routing:write',
  'members:read',
  'members:write',
  'invites:read',
  'invites:write',
  'audit:read',
  'budgets:read',
  'budgets:write',
] as const

/** A permission of an API key. */
export type Scope = (typeof scopes)[number]
export type Profile = 'inference' | 'management' | 'mixed'

/** `inference` if only `inference:invoke` is granted, `management` if it is not, `mixed` if it is one of several. */
export function profileOf(granted: Iterable<string>): Profile {
  const set = new Set(granted)
  if (!set.has('inference:invoke')) return 'management'
  return set.size === 1 ? 'inference' : 'mixed'
}
