import type { InviteBody } from '@signalbox/core/access'
import { changedRecord, hashSecret, newRecord, type TypedRecord } from '@signalbox/core/access'
import type { Acceptance, Invite, Member, NewInvite } from '@signalbox/core/resources'
import { callHook } from '@signalbox/core/runtime'
import { toBase64Url } from '@signalbox/dialects/common'
import { GatewayError } from '@signalbox/dialects/errors'
import { dayMs } from '@signalbox/dialects/protocol'
import { checkEmail, normalEmail } from './email.ts'
import { findWorkspace, notFoundError } from './find-workspace.ts'
import { alreadyMemberError, checkGrant, checkSeat, joining, memberName } from './members.ts'
import type { ManagedWorkspace, ManagementParts } from './ports.ts'

/** The invites of a workspace to future members. */
export interface Invites {
  /** In order of creation. */
  list(options?: { readonly after?: string; readonly limit?: number }): Promise<readonly Invite[]>
  /**
   * Creates an invite, valid for 7 days. The token is returned once, and passed to the `onInvite` hook, which sends it. An address has one
   * pending invite at a time.
   */
  create(input: NewInvite): Promise<Invite & { readonly token: string }>
  /**
   * Makes the token invalid. Repeating the call changes nothing.
   * @throws `resource_not_found`, `state_precondition_failed` (the invite was accepted)
   */
  revoke(id: string): Promise<Invite>
}

/** The record group of an address's pending invite, of which there is at most one. */
const groupOf = (email: string): string => `to:${normalEmail(email)}`
const closed = 'closed'

const validMs = 7 * dayMs
const tokenBytes = 32

export function invitesOf(managed: ManagedWorkspace): Invites {
  const { workspaceId, actor, records, commitWithAudit, clock, ids, logger, hooks } = managed
  return {
    list: async ({ after, limit = 100 } = {}) =>
      (await records.list('invite', { workspaceId, limit, after })).map(kept => inviteOf(kept, clock.now())),
    async create({ email, role }) {
      checkEmail(email)
      checkGrant(role, actor)
      const token = `inv_${toBase64Url(ids.random(tokenBytes))}`
      const name = await hashSecret(token)
      const id = ids.uuid()
      const { invite, workspaceName } = await commitWithAudit(workspaceId, actor, async () => {
        const workspace = await findWorkspace(records, workspaceId)
        const at = clock.now()
        const body: InviteBody = { email, role, status: 'pending', expiresAt: at + validMs }
        if (await records.findByName('member', memberName(workspaceId, email))) {
          if (!managed.isForSetup) throw alreadyMemberError(email)
          return inviteOfMember(managed, { id, workspaceId, body, at }, workspace.body.name)
        }
        const group = groupOf(email)
        const before = await records.list('invite', { workspaceId, groups: [group], limit: 100 })
        const pending = before.filter(each => inviteOf(each, at).status === 'pending')
        if (pending.length > 0 && !managed.isForSetup)
          throw new GatewayError('duplicate_resource', {
            message: `"${email.slice(0, 100)}" is already invited. Revoke that invite first, or wait until it expires.`,
            param: 'email',
          })
        return {
          puts: [
            ...before.map(each => changedRecord(each, { group: closed, ...(pending.includes(each) && { body: { status: 'revoked' } }) })),
            newRecord('invite', { id, workspaceId, name, group, createdAt: at, body }),
          ],
          events: [
            ...pending.map(each => ({ event: 'invite.revoked', subject: { type: 'invite' as const, id: each.id } })),
            { event: 'invite.created', subject: { type: 'invite', id }, changes: { email, role } },
          ],
          result: { invite: { ...body, id }, workspaceName: workspace.body.name },
        }
      })
      if (hooks.onInvite && invite.status === 'pending')
        callHook(logger, 'onInvite', () =>
          hooks.onInvite?.({ workspaceId, workspaceName, email, role, token, expiresAt: invite.expiresAt }),
        )
      return { ...invite, token }
    },
    revoke: id =>
      commitWithAudit(workspaceId, actor, async () => {
        const invite = await records.find('invite', workspaceId, id)
        if (!invite) throw notFoundError('invite', id)
        checkGrant(invite.body.role, actor)
        const { status } = invite.body
        if (status === 'accepted' && !managed.isForSetup) throw inviteAcceptedError()
        if (status === 'accepted')
          logger.warn({ workspaceId, id }, `\`setup\` does not revoke this invite. ${inviteAcceptedError().message}`)
        if (status !== 'pending') return { events: [], result: inviteOf(invite, clock.now()) }
        const body = { ...invite.body, status: 'revoked' as const }
        return {
          puts: [changedRecord(invite, { group: closed, body })],
          events: [{ event: 'invite.revoked', subject: { type: 'invite', id } }],
          result: inviteOf({ ...invite, body }, clock.now()),
        }
      }),
  }
}

/** What `setup` gets that invites a member: an accepted invite, which is stored once, so that its id can be used. */
async function inviteOfMember(
  { records }: ManagementParts,
  { body, at, ...place }: Pick<TypedRecord<'invite'>, 'id' | 'workspaceId' | 'body'> & { readonly at: number },
  workspaceName: string,
) {
  const name = `accepted:${memberName(place.workspaceId, body.email)}`
  const old = await records.findByName('invite', name)
  if (old) return { events: [], result: { invite: inviteOf(old, at), workspaceName } }
  const accepted = { ...body, status: 'accepted' as const }
  return {
    puts: [newRecord('invite', { ...place, name, group: closed, createdAt: at, body: accepted })],
    events: [
      {
        event: 'invite.created' as const,
        subject: { type: 'invite' as const, id: place.id },
        changes: { email: body.email, role: body.role },
      },
    ],
    result: { invite: { ...accepted, id: place.id }, workspaceName },
  }
}

/**
 * Makes the holder of the token a member. Unknown, used, revoked and expired tokens give the same error, so that guessing reveals nothing.
 */
export async function acceptInvite(
  { records, commitWithAudit, clock, ids }: ManagementParts,
  { token, name, ...guest }: Acceptance,
): Promise<Member & { readonly workspaceId: string }> {
  const hash = await hashSecret(token)
  const found = await records.findByName('invite', hash)
  if (!found) throw noInviteError()
  const { workspaceId, id: inviteId } = found
  const id = ids.uuid()
  const member = await commitWithAudit(workspaceId, guest, async () => {
    const invite = await records.find('invite', workspaceId, inviteId)
    if (!invite || inviteOf(invite, clock.now()).status !== 'pending') throw noInviteError()
    await checkSeat(records, workspaceId)
    const { email, role } = invite.body
    const joined = joining({ id, workspaceId, at: clock.now() }, { email, role, name })
    return {
      puts: [changedRecord(invite, { group: closed, body: { status: 'accepted' } }), ...joined.puts],
      events: [{ event: 'invite.accepted', subject: { type: 'invite', id: inviteId }, changes: { member_id: id } }, ...joined.events],
      result: joined.result,
      taken: alreadyMemberError(email),
    }
  })
  return { ...member, workspaceId }
}

const inviteAcceptedError = (): GatewayError =>
  new GatewayError('state_precondition_failed', { message: 'This invite was accepted. Remove the member instead.' })

const noInviteError = (): GatewayError =>
  new GatewayError('resource_not_found', {
    message: 'This invite does not exist: it was used, was revoked, or is older than 7 days. Ask for a new invite.',
  })

const inviteOf = ({ id, body }: TypedRecord<'invite'>, now: number): Invite => ({
  ...body,
  id,
  status: body.status === 'pending' && body.expiresAt <= now ? 'expired' : body.status,
})
