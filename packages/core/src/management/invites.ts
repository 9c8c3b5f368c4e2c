import type { InviteBody, Role } from '../access/kinds.ts'
import { changed, type Kept, made } from '../access/records.ts'
import { GatewayError } from '../errors/gateway-error.ts'
import { toBase64Url } from '../runtime/base64.ts'
import { tell } from '../runtime/tell.ts'
import { sha256 } from '../runtime/web.ts'
import { absent, checkText } from './check.ts'
import { checkEmail, normalEmail } from './email.ts'
import { checkGrant } from './grant-role.ts'
import { checkSeat, isMember, joining, type Member, memberName } from './members.ts'
import { ownWorkspace } from './own.ts'
import type { Actor, Desk, ManagementPorts } from './ports.ts'

export interface Invite extends Omit<InviteBody, 'status'> {
  readonly id: string
  readonly status: InviteBody['status'] | 'expired'
}

export interface Invites {
  /** In the order of their making. */
  list(options?: { readonly after?: string; readonly limit?: number }): Promise<readonly Invite[]>
  /** The token is returned once, and given to the `onInvite` hook, which sends it. Valid for 7 days. An address has one at a time. */
  create(input: { readonly email: string; readonly role: Role }): Promise<Invite & { readonly token: string }>
  /** The token is good for nothing from then on. A second time changes nothing; one that was accepted is `state_precondition_failed`. */
  revoke(id: string): Promise<Invite>
}

/** Those for one address that wait for their answer, of which there is one at most. */
const groupOf = (email: string): string => `to:${normalEmail(email)}`
const closed = 'closed'

const validMs = 7 * 86_400_000
const tokenBytes = 32

export function invitesOf({ ports, workspaceId, actor }: Desk): Invites {
  const { records, register, clock, ids, logger, hooks } = ports
  return {
    list: async ({ after, limit = 100 } = {}) =>
      (await records.list('invite', { workspaceId, limit, ...(after !== undefined && { after }) })).map(kept =>
        inviteOf(kept, clock.now()),
      ),
    async create({ email, role }) {
      checkEmail(email)
      checkGrant(role, actor)
      const token = `inv_${toBase64Url(ids.random(tokenBytes))}`
      const name = await sha256(token)
      const id = ids.uuid()
      const { invite, workspaceName } = await register(workspaceId, actor, async () => {
        const workspace = await ownWorkspace(records, workspaceId)
        if (await records.named('member', memberName(workspaceId, email))) throw isMember(email)
        const at = clock.now()
        const group = groupOf(email)
        const before = await records.list('invite', { workspaceId, groups: [group], limit: 100 })
        if (before.some(each => inviteOf(each, at).status === 'pending')) throw isInvited(email)
        const body: InviteBody = { email, role, status: 'pending', expiresAt: at + validMs }
        return {
          puts: [
            ...before.map(each => changed(each, { group: closed })),
            made('invite', { id, workspaceId, name, group, createdAt: at, body }),
          ],
          events: [{ event: 'invite.created', subject: { type: 'invite', id }, changes: { email, role } }],
          result: { invite: { ...body, id }, workspaceName: workspace.body.name },
        }
      })
      if (hooks.onInvite)
        tell(logger, 'onInvite', () => hooks.onInvite?.({ workspaceId, workspaceName, email, role, token, expiresAt: invite.expiresAt }))
      return { ...invite, token }
    },
    revoke: id =>
      register(workspaceId, actor, async () => {
        const invite = await records.find('invite', workspaceId, id)
        if (!invite) throw absent('invite', id)
        if (invite.body.status === 'accepted')
          throw new GatewayError('state_precondition_failed', { message: 'This invite was accepted. Remove the member instead.' })
        if (invite.body.status === 'revoked') return { events: [], result: inviteOf(invite, clock.now()) }
        const body = { ...invite.body, status: 'revoked' as const }
        return {
          puts: [changed(invite, { group: closed, body })],
          events: [{ event: 'invite.revoked', subject: { type: 'invite', id } }],
          result: inviteOf({ ...invite, body }, clock.now()),
        }
      }),
  }
}

/** `requestId`, `ip`: for the audit, as of an actor; the token is all that is known of who it is. */
export interface Acceptance extends Pick<Actor, 'requestId' | 'ip'> {
  readonly token: string
  readonly name: string
}

/** Whoever has the token becomes a member. The same words for a token that was never one, is used, revoked or too old: a stranger learns nothing. */
export async function acceptInvite(
  { records, register, clock, ids }: ManagementPorts,
  { token, name, ...guest }: Acceptance,
): Promise<Member & { readonly workspaceId: string }> {
  checkText('name', name)
  const hash = await sha256(token)
  const found = await records.named('invite', hash)
  if (!found) throw noInvite()
  const { workspaceId, id: inviteId } = found
  const id = ids.uuid()
  const member = await register(workspaceId, guest, async () => {
    const invite = await records.find('invite', workspaceId, inviteId)
    if (!invite || inviteOf(invite, clock.now()).status !== 'pending') throw noInvite()
    await checkSeat(records, workspaceId)
    const { email, role } = invite.body
    const joined = joining({ id, workspaceId, at: clock.now() }, { email, role, name })
    return {
      puts: [changed(invite, { group: closed, body: { status: 'accepted' } }), ...joined.puts],
      events: [{ event: 'invite.accepted', subject: { type: 'invite', id: inviteId }, changes: { member_id: id } }, ...joined.events],
      result: joined.result,
      taken: isMember(email),
    }
  })
  return { ...member, workspaceId }
}

const noInvite = (): GatewayError =>
  new GatewayError('resource_not_found', {
    message: 'There is no such invite: it was used, revoked, or is older than 7 days. Ask for another one.',
  })

const isInvited = (email: string): GatewayError =>
  new GatewayError('duplicate_resource', {
    message: `"${email.slice(0, 100)}" is invited already. Revoke that invite first, or wait until it has run out.`,
    param: 'email',
  })

const inviteOf = ({ id, body }: Kept<'invite'>, now: number): Invite => ({
  ...body,
  id,
  status: body.status === 'pending' && body.expiresAt <= now ? 'expired' : body.status,
})
