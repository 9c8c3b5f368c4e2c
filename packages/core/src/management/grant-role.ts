import { nounOf } from '../access/end-user.ts'
import { GatewayError } from '../errors/gateway-error.ts'
import type { Role } from '../resources/member.ts'
import { type Scope, scopes } from '../resources/scopes.ts'
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
