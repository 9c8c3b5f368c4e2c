import { nounOf } from '@signalbox/core/access'
import type { Role } from '@signalbox/core/resources'
import { type Scope, scopes } from '@signalbox/core/resources'
import { GatewayError } from '@signalbox/dialects/errors'
import type { Actor } from './change.ts'

/** The management scopes equivalent to each role. Developers and viewers have none. */
const administers: Readonly<Record<Role, readonly Scope[]>> = {
  owner: scopes,
  admin: scopes.filter(scope => scope.endsWith(':write') && scope !== 'billing:write'),
  billing: ['billing:write', 'budgets:write'],
  developer: [],
  viewer: [],
}

/** Throws if the role has scopes that the actor's key lacks: such a key neither grants the role nor takes it away. The operator may do both. */
export function checkGrant(role: Role, { key }: Actor): void {
  if (!key) return
  const lacking = administers[role].filter(scope => !key.scopes.has(scope))
  if (lacking.length === 0) return
  throw new GatewayError('operation_not_allowed', {
    message: `The role "${role}" has scopes that this ${nounOf(key.id)} lacks: ${lacking.map(scope => `"${scope}"`).join(', ')}. Use a key that has these scopes, or another role.`,
    param: 'role',
  })
}
