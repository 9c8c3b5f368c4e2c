import type { SessionBody } from '@signalbox/core/access'
import { changedRecord, hashSecret, isTag, makeSecret, nounOf, prefixOf, recordRemoval, type TypedRecord } from '@signalbox/core/access'
import { invalidValueError, type NewSession, type Session, sessionFields, toWire } from '@signalbox/core/resources'
import { GatewayError } from '@signalbox/dialects/errors'
import { sessionTokenPrefix } from '@signalbox/dialects/protocol'
import { notFoundError } from './find-workspace.ts'
import { checkKnown } from './known-names.ts'
import type { ManagedWorkspace } from './ports.ts'
import { commitSession, countWithout } from './session-groups.ts'

/** The sessions of a workspace: short-lived tokens with which a web page of the app calls models for one user. */
export interface Sessions {
  /**
   * Creates a session. The token is returned once and stored nowhere. Waits for `setup`, which may create the workspace. A session that
   * is created with an API key counts against that key's budgets and limits, and ends with it: with a secret that a rotation replaced, at the
   * end of its grace period.
   *
   * @throws `invalid_parameter_value`, `operation_not_allowed` (the actor may not call models), `state_precondition_failed` (too many live sessions)
   * @example const { token } = await gateway.workspaces(id).sessions.create({ user: 'u_42', maxSpend: usd(0.5), expiresIn: 900 })
   */
  create(input: NewSession): Promise<Session & { readonly token: string }>
  /** The sessions that have not expired, in order of creation. */
  list(options?: { readonly user?: string; readonly after?: string; readonly limit?: number }): Promise<readonly Session[]>
  /**
   * Revokes a session: its token stops working at once in this process, and within 30 s in others. Running requests continue.
   * @throws `resource_not_found` (it does not exist or was revoked)
   */
  revoke(id: string): Promise<{ readonly id: string }>
}

const usualSeconds = 3_600

export function sessionsOf(managed: ManagedWorkspace): Sessions {
  const { workspaceId, actor, records, commitWithAudit, authenticator, clock } = managed
  return {
    create: input => createUserSession(managed, input),
    async list({ user, after, limit = 100 } = {}) {
      const query = { workspaceId, limit, groups: user === undefined ? undefined : [user] }
      const now = clock.now()
      const live: Session[] = []
      for (let place = after; live.length < limit; ) {
        const page = await records.list('session', { ...query, after: place })
        live.push(...page.filter(({ body }) => body.expiresAt > now).map(sessionOf))
        place = page.at(-1)?.id
        if (page.length < limit) break
      }
      return live.slice(0, limit)
    },
    async revoke(id) {
      const revoking = commitWithAudit(workspaceId, actor, async () => {
        const session = await records.find('session', workspaceId, id)
        if (!session) throw notFoundError('session', id)
        const counted = await records.find('session_count', workspaceId, workspaceId)
        return {
          puts: counted ? [changedRecord(counted, { body: countWithout(counted.body, session.body.expiresAt) })] : [],
          removals: [recordRemoval(session)],
          events: [{ event: 'session.revoked', subject: { type: 'session', id }, changes: { user: session.body.user } }],
          result: undefined,
        }
      })
      // Forgotten even if the commit fails, as with a key.
      await revoking.finally(() => authenticator.forget(id, workspaceId))
      return { id }
    },
  }
}

async function createUserSession(managed: ManagedWorkspace, input: NewSession): Promise<Session & { readonly token: string }> {
  const { workspaceId, actor, clock, ids } = managed
  const { expiresIn = usualSeconds, ...fields } = input
  checkNewSession(input)
  if (input.models) checkKnown(managed, { models: input.models }, {})
  if (actor.key && !actor.key.scopes.has('inference:invoke'))
    throw new GatewayError('operation_not_allowed', {
      message: `This ${nounOf(actor.key.id)} lacks the scope "inference:invoke", so it cannot grant it to a session.`,
    })
  const token = makeSecret(ids, sessionTokenPrefix)
  const [id, name] = [ids.uuid(), await hashSecret(token)]
  const createdAt = clock.now()
  const expiresAt = createdAt + expiresIn * 1_000
  const body: SessionBody = { ...fields, prefix: prefixOf(token), expiresAt }
  const session = await commitSession({
    managed,
    record: { id, workspaceId, name, group: input.user, createdAt, expiresAt, body },
    event: { event: 'session.created', subject: { type: 'session', id }, changes: toWire(sessionFields, input) },
  })
  return { ...sessionOf(session), token }
}

function checkNewSession({ user, tags = [], origins = [], budgets = [] }: NewSession): void {
  if (!user.isWellFormed()) throw invalidValueError('user', user, 'a string without lone surrogates')
  for (const [at, tag] of tags.entries())
    if (!isTag(tag)) throw invalidValueError(`tags[${at}]`, tag, 'a name without a comma, and without a space at its ends')
  for (const [at, origin] of origins.entries())
    if (originOf(origin) !== origin) throw invalidValueError(`origins[${at}]`, origin, 'an origin, as in "https://app.example"')
  for (const [at, { group }] of budgets.entries())
    if (group?.isWellFormed() === false) throw invalidValueError(`budgets[${at}].group`, group, 'a string without lone surrogates')
}

const originOf = (text: string): string | undefined => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url && /^https?:$/.test(url.protocol) ? url.origin : undefined
}

const sessionOf = ({ id, workspaceId, createdAt, body }: TypedRecord<'session'>): Session => {
  const { prefix, createdBy: _, ancestors: __, ...fields } = body
  return { ...fields, id, workspaceId, createdAt, tokenPrefix: prefix }
}
