import { type CredentialBody, changedRecord, type TypedRecord } from '@signalbox/core/access'
import { asSource, type Clock, timersOf } from '@signalbox/core/runtime'
import { maxFailureBytes, readBodyText } from '@signalbox/core/upstream'
import type { AccountCheck, Credential, Provider, Transport } from '@signalbox/dialects/protocol'
import pTimeout from 'p-timeout'
import type { Actor } from '../change.ts'
import { notFoundError } from '../find-workspace.ts'
import type { ByokPorts } from './ports.ts'
import { tierHeard, withTier } from './tiers.ts'

export interface Validations {
  /** Validates a key in the background and stores the result. */
  begin(workspaceId: string, id: string): void
  /** Validates a key and waits for the result. */
  validate(workspaceId: string, id: string, actor: Actor): Promise<TypedRecord<'credential'>>
  /**
   * Marks a key whose call was refused. It is not used until it is validated or its secret is replaced. An end user chose the content of the
   * call, so a refusal other than 401 counts only if the provider also refuses a request of the gateway's own.
   */
  refuse(workspaceId: string, credential: Credential, status: number | undefined): void
}

/** Maximum keys being checked at a time. Further ones stay pending. */
const maxConcurrentChecks = 200

export function keepValidations(ports: ByokPorts): Validations {
  const { records, commitWithAudit, vault, clock, inBackground } = ports
  /** Keys that changed during their check, to be checked again when it ends. */
  const again = new Set<string>()
  const validating = new Set<string>()
  const refusing = new Set<string>()

  const begin: Validations['begin'] = (workspaceId, id) => {
    if (validating.has(id)) return void again.add(id)
    if (validating.size >= maxConcurrentChecks) return
    validating.add(id)
    inBackground('A provider key could not be validated.', async () => {
      try {
        await validateKey(ports, { workspaceId, id })
      } finally {
        validating.delete(id)
        if (again.delete(id)) begin(workspaceId, id)
      }
    })
  }
  return {
    validate: (workspaceId, id, actor) => validateKey(ports, { workspaceId, id, actor }),
    begin,
    refuse(workspaceId, credential, status) {
      const { id } = credential
      const known = vault.recordOf(credential)
      if (refusing.has(id) || refusing.size >= maxConcurrentChecks) return
      refusing.add(id)
      inBackground('A rejected provider key could not be marked as invalid.', async () => {
        try {
          if (status !== 401 && !(await isRefusedAgain(ports, credential))) return
          await commitWithAudit(workspaceId, {}, async () => {
            const key = await records.find('credential', workspaceId, id)
            // The secret was replaced meanwhile, and the new one was not refused.
            if (!key || key.name !== known?.name || key.body.validationStatus === 'invalid') return { events: [], result: undefined }
            const news = { validationStatus: 'invalid', lastValidatedAt: clock.now() } as const
            return { puts: [changedRecord(key, { body: news })], events: [validated(key, 'invalid')], result: undefined }
          })
        } finally {
          refusing.delete(id)
        }
      })
    },
  }
}

/** Whether a provider refuses a credential for its list of models too. False if it has no free way to check one. */
async function isRefusedAgain({ vault, providers, transport, clock, signal }: ByokPorts, credential: Credential): Promise<boolean> {
  const provider = providers.get(vault.recordOf(credential)?.body.provider ?? '')
  const checked = provider && (await checkAccount(provider, credential, { transport, clock, signal: signal() }))
  return checked?.status === 'invalid'
}

interface Validation {
  readonly workspaceId: string
  readonly id: string
  /** The actor that requested the check. The audit log then records it even if nothing changed. */
  readonly actor?: Actor
}

async function validateKey(ports: ByokPorts, { workspaceId, id, actor }: Validation): Promise<TypedRecord<'credential'>> {
  const key = await findKey(ports, workspaceId, id)
  const checked = await checkSecret(ports, key)
  return ports.commitWithAudit(workspaceId, actor ?? {}, async () => {
    const now = await findKey(ports, workspaceId, id)
    // If the secret was replaced meanwhile, the new one has a check of its own.
    const news = now.name === key.name ? changesBy(ports, now, checked) : {}
    const isNews = Object.keys(news).length > 0
    return {
      puts: isNews ? [changedRecord(now, { body: news })] : [],
      events: isNews || actor ? [validated(now, news.validationStatus ?? now.body.validationStatus)] : [],
      result: { ...now, body: { ...now.body, ...news } },
    }
  })
}

async function findKey({ records }: ByokPorts, workspaceId: string, id: string): Promise<TypedRecord<'credential'>> {
  const key = await records.find('credential', workspaceId, id)
  if (!key) throw notFoundError('BYOK key', id)
  return key
}

async function checkSecret(ports: ByokPorts, key: TypedRecord<'credential'>): Promise<Checked> {
  const { vault, providers, transport, clock, signal } = ports
  const secret = await vault.unseal(key)
  const provider = providers.get(key.body.provider)
  if (secret === undefined || !provider) return { status: 'error' }
  const { extra } = key.body
  const credential: Credential = { id: key.id, owner: 'workspace', secret, extra }
  return checkAccount(provider, credential, { transport, clock, signal: signal() })
}

/** The changes that a check makes to the record of a key. */
function changesBy(
  { providers, tiersOf, clock }: ByokPorts,
  { body }: TypedRecord<'credential'>,
  checked: Checked,
): Partial<TypedRecord<'credential'>['body']> {
  if (!checked) return body.validationStatus === 'pending' ? {} : { validationStatus: 'pending' }
  const provider = providers.get(body.provider)
  const { header, status } = checked
  const heard = header && provider && tierHeard({ provider, model: '', header }, tiersOf(provider.id))
  return { validationStatus: status, lastValidatedAt: clock.now(), ...withTier(body, heard) }
}

const validated = ({ id, body }: TypedRecord<'credential'>, to: string) => ({
  event: 'byok_key.validated',
  subject: { type: 'byok_key', id },
  changes: { validation_status: { from: body.validationStatus, to } },
})

/** Undefined: not checked, because the provider has no free way to check a key. */
type Checked = Checks | undefined

interface Checks {
  readonly status: Exclude<CredentialBody['validationStatus'], 'pending'>
  /** Reads headers of the response, if there was one. */
  readonly header?: (name: string) => string | undefined
}

interface CheckPorts {
  readonly transport: Transport
  readonly clock: Clock
  /** Cancels the check. */
  readonly signal: AbortSignal
}

const maxCheckMs = 10_000

/**
 * Sends a credential to its provider to see whether it is accepted. Never throws, and returns no reason, because error messages may contain
 * secrets.
 */
async function checkAccount(provider: Provider, credential: Credential, ports: CheckPorts): Promise<Checked> {
  const ending = new AbortController()
  const end = (): void => ending.abort()
  ports.signal.addEventListener('abort', end, { once: true })
  try {
    const check = provider.account?.check?.(credential)
    if (!check) return undefined
    const result = ask({ provider, credential, check }, { ...ports, signal: ending.signal })
    return await pTimeout(result, { milliseconds: maxCheckMs, signal: ending.signal, customTimers: timersOf(ports.clock) })
  } catch {
    return { status: 'error' }
  } finally {
    ports.signal.removeEventListener('abort', end)
    ending.abort()
  }
}

interface Asked {
  readonly provider: Provider
  readonly credential: Credential
  readonly check: AccountCheck
}

async function ask({ provider, credential, check }: Asked, { transport, clock, signal }: CheckPorts): Promise<Checks> {
  const { api, url } = check
  const headers: Record<string, string> = { accept: 'application/json', 'user-agent': 'signalbox', ...check.headers }
  const before = Object.keys(headers).length
  const times = { now: clock.now(), monotonic: clock.monotonic() }
  await provider.authorize(headers, credential, { api, url: url ?? '', body: '', transport, ...times, signal })
  if (url === undefined) return { status: Object.keys(headers).length > before ? 'valid' : 'invalid' }
  const { status, header, body } = await transport({ url, method: 'GET', headers, signal })
  if (status >= 200 && status < 300) {
    asSource(body).cancel()
    return { status: 'valid', header }
  }
  const { text } = await readBodyText(body, maxFailureBytes)
  const refused = status === 401 || status === 403 || isRefusal(provider, api, { status, body: text, header, now: clock.now() })
  return { status: refused ? 'invalid' : 'error', header }
}

/** Some providers report a refusal with another status. */
const isRefusal = (
  { dialects }: Provider,
  dialect: string,
  answer: Parameters<Provider['dialects'][number]['decodeFailure']>[0],
): boolean => dialects.find(({ name }) => name === dialect)?.decodeFailure(answer).kind === 'bad_credential'
