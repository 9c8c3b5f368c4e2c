import { nounOf } from '../access/end-user.ts'
import { GatewayError } from '../errors/gateway-error.ts'
import type { Role } from '../resources/member.ts'
import { type Scope, scopes } from '../resources/scopes.ts'
import type { Actor } from './ports.ts'

/** What members of each role administer, as the scopes that a key needs for the same. Developers and viewers administer nothing. */
const administers: Readonly<Record<Role, readonly Scope[]>> = {
  owner: scopes,
  admin: scopes.filter(scope => scope.endsWith(':write') && scope !== 'billing:write'),
  billing: ['billing:write', 'budgets:write'],
  developer: [],
  viewer: [],
}

/** Throws where there is no such role, or it is above what the key of the actor may do. The operator grants every role. */
export function checkGrant(role: Role, { key }: Actor): void {
  if (!key) return
  const lacking = administers[role].filter(scope => !key.scopes.has(scope))
  if (lacking.length === 0) return
  throw new GatewayError('operation_not_allowed', {
    message: `The role "${role}" has scopes that this ${nounOf(key.id)} lacks: ${lacking.map(scope => `"${scope}"`).join(', ')}. Use a key that has these scopes, or another role.`,
    param: 'role',
  })
}
