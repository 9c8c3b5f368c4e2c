import { changedRecord, type MemberBody, newRecord, nounOf, type Records, recordRemoval, type TypedRecord } from '@signalbox/core/access'
import { type Member, type MemberChange, type NewMember, type Role, type Scope, scopes } from '@signalbox/core/resources'
import { GatewayError } from '@signalbox/dialects/errors'
import type { Actor } from './change.ts'
import { checkEmail, normalEmail } from './email.ts'
import { findWorkspace, notFoundError } from './find-workspace.ts'
import type { ManagedWorkspace } from './ports.ts'

/** The members of a workspace and their roles. */
export interface Members {
  /** In the order they joined. */
  list(options?: { readonly after?: string; readonly limit?: number }): Promise<readonly Member[]>
  /**
   * Adds a member without an invite. In process only, usually for the first owner.
   * @throws `duplicate_resource` (the email is a member), `invalid_parameter_value`, `state_precondition_failed` (the workspace is full)
   */
  add(input: NewMember): Promise<Member>
  /** @throws `resource_not_found`, `state_precondition_failed` (the last owner must stay owner) */
  update(id: string, input: MemberChange): Promise<Member>
  /** @throws `resource_not_found`, `state_precondition_failed` (the last owner) */
  remove(id: string): Promise<Member>
}

/** More members than share one workspace in practice. */
const maxMembers = 1_000

export function membersOf(managed: ManagedWorkspace): Members {
  const { workspaceId, actor, records, commitWithAudit, clock, ids } = managed
  const find = async (id: string): Promise<TypedRecord<'member'>> => {
    const member = await records.find('member', workspaceId, id)
    if (!member) throw notFoundError('member', id)
    return member
  }
  const all = (): Promise<readonly TypedRecord<'member'>[]> => records.list('member', { workspaceId, limit: maxMembers })
  const keepAnOwner = async (leaving: TypedRecord<'member'>): Promise<void> => {
    if (leaving.body.role !== 'owner' || managed.isForSetup) return
    if ((await all()).some(({ id, body }) => id !== leaving.id && body.role === 'owner')) return
    throw new GatewayError('state_precondition_failed', {
      message: 'This member is the last owner. Make another member owner first.',
      param: 'role',
    })
  }
  return {
    list: async ({ after, limit = 100 } = {}) => (await records.list('member', { workspaceId, limit, after })).map(memberOf),
    async add(input) {
      checkEmail(input.email)
      checkGrant(input.role, actor)
      const id = ids.uuid()
      return commitWithAudit(workspaceId, actor, async () => {
        await findWorkspace(records, workspaceId)
        const old = managed.isForSetup && (await records.findByName('member', memberName(workspaceId, input.email)))
        if (old) return { events: [], result: memberOf(old) }
        if (!managed.isForSetup) await checkSeat(records, workspaceId)
        return { ...joining({ id, workspaceId, at: clock.now() }, input), taken: alreadyMemberError(input.email) }
      })
    },
    async update(id, { role }) {
      if (role !== undefined) checkGrant(role, actor)
      return commitWithAudit(workspaceId, actor, async () => {
        const member = await find(id)
        checkGrant(member.body.role, actor)
        if (role === undefined || role === member.body.role) return { events: [], result: memberOf(member) }
        await keepAnOwner(member)
        const body = { ...member.body, role }
        return {
          puts: [changedRecord(member, { body })],
          events: [{ event: 'member.updated', subject: { type: 'member', id }, changes: { role: { from: member.body.role, to: role } } }],
          result: memberOf({ ...member, body }),
        }
      })
    },
    remove: id =>
      commitWithAudit(workspaceId, actor, async () => {
        const member = await find(id)
        checkGrant(member.body.role, actor)
        await keepAnOwner(member)
        return {
          removals: [recordRemoval(member)],
          events: [{ event: 'member.deleted', subject: { type: 'member', id }, changes: { role: member.body.role } }],
          result: memberOf(member),
        }
      }),
  }
}

export interface NewMembership {
  readonly id: string
  readonly workspaceId: string
  readonly at: number
}

/** A new member, invited or added by the operator. */
export function joining({ id, workspaceId, at }: NewMembership, { email, name, role }: Pick<MemberBody, 'email' | 'name' | 'role'>) {
  const body: MemberBody = { email, name, role, joinedAt: at }
  return {
    puts: [newRecord('member', { id, workspaceId, name: memberName(workspaceId, email), createdAt: at, body })],
    events: [{ event: 'member.created', subject: { type: 'member', id }, changes: { email, role } }],
    result: { ...body, id },
  }
}

/** Unique in a workspace for an address, however it is written. */
export const memberName = (workspaceId: string, email: string): string => JSON.stringify([workspaceId, normalEmail(email)])

export const alreadyMemberError = (email: string): GatewayError =>
  new GatewayError('duplicate_resource', {
    message: `"${email.slice(0, 100)}" is already a member. Change the role of the member instead.`,
    param: 'email',
  })

/** Throws if the workspace has the maximum number of members. */
export async function checkSeat(records: Records, workspaceId: string): Promise<void> {
  const there = await records.list('member', { workspaceId, limit: maxMembers })
  if (there.length >= maxMembers)
    throw new GatewayError('state_precondition_failed', { message: `A workspace has at most ${maxMembers} members. Remove one first.` })
}

const memberOf = ({ id, body }: TypedRecord<'member'>): Member => ({ ...body, id })

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
