import { fromBase64Url, toBase64Url } from '@signalbox/dialects/common'
import { type Credential, credentialOf } from '@signalbox/dialects/protocol'
import { createLru } from '../runtime/lru.ts'
import type { Logger } from '../runtime/ports.ts'
import { type KeyRing, type SealContext, sealFormat } from '../runtime/seal.ts'
import type { CredentialBody } from './kinds.ts'
import type { TypedRecord } from './records.ts'

/** The record that a sealed secret is bound to. It cannot be unsealed for any other record. */
export type CredentialBinding = Pick<TypedRecord<'credential'>, 'workspaceId' | 'id'> & {
  readonly body: Pick<CredentialBody, 'provider' | 'extra'>
}

// A secret is bound to its workspace, record, provider and account settings, so that a row which was moved or pointed at another address does
// not open. Its key is derived for each workspace, because one AES-GCM key must not seal without bound: reasoning state is sealed with every
// response.

/** Seals and unseals the provider keys of workspaces. */
export interface Vault {
  /** `v1.2.<key id>.<iv>.<ciphertext>`. Envelopes without the `2.` date from before keys were derived from the sealing key. */
  seal(secret: string, place: CredentialBinding): Promise<string>
  /** Undefined if the secret was altered or moved, or its sealing key is not on the ring. */
  unseal(credential: TypedRecord<'credential'>): Promise<string | undefined>
  /** Whether it was sealed with the first key of the ring. */
  isNewest(credential: TypedRecord<'credential'>): Promise<boolean>
  /**
   * Usable credentials by provider, at most `maxKeysOfProvider` each: the default first, then in order of creation. One that cannot be
   * unsealed is left out, and logged once.
   */
  open(credentials: readonly TypedRecord<'credential'>[]): Promise<ReadonlyMap<string, readonly Credential[]>>
  /** The record of a credential that `open` returned, as it was when read. */
  recordOf(credential: Credential): TypedRecord<'credential'> | undefined
}

export interface VaultPorts {
  readonly ring: KeyRing
  /** The data policy of a provider account, if it is known. */
  readonly policyOf: (provider: string, tier: string | undefined) => string | undefined
  readonly logger: Logger
}

const sealVersion = 'v1'
const maxOpened = 20_000
/** Keys of one provider that requests of a workspace use. Each is a candidate of every request, so their number is limited. */
export const maxKeysOfProvider = 10

/**
 * JSON, because it is unambiguous. `extra` is bound because it becomes part of an address: write access to the store must not redirect a
 * secret.
 */
const bindingText = ({ workspaceId, id, body: { provider, extra = {} } }: CredentialBinding): string => {
  const beside = Object.entries(extra).sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify(['provider key', sealVersion, workspaceId, id, provider, beside])
}

const sealContextOf = (place: CredentialBinding): SealContext => ({
  purpose: 'provider key',
  workspaceId: place.workspaceId,
  bound: bindingText(place),
})

interface Opened {
  readonly version: number
  /** Undefined if it cannot be unsealed. */
  readonly credential: Credential | undefined
}

/** Creates the vault that unseals provider keys and keeps them open. */
export function createVault({ ring, policyOf, logger }: VaultPorts): Vault {
  const opened = createLru<Opened>(maxOpened)
  const records = new WeakMap<Credential, TypedRecord<'credential'>>()

  const unseal: Vault['unseal'] = async credential => {
    const { sealed } = credential.body
    return isAsWritten(sealed) ? ring.open(sealed.slice(sealVersion.length + 1), sealContextOf(credential)) : undefined
  }
  const openOne = async (record: TypedRecord<'credential'>): Promise<Credential | undefined> => {
    const known = opened.get(record.id)
    if (known?.version === record.version) return known.credential
    const { id, workspaceId, body } = record
    const secret = await unseal(record)
    // Concurrent reads must share one object.
    const meanwhile = opened.get(id)
    if (meanwhile?.version === record.version) return meanwhile.credential
    const credential = secret === undefined ? undefined : credentialFrom(record, secret, policyOf(body.provider, body.accountTier))
    if (credential) records.set(credential, record)
    else logger.warn({ byok_key_id: id, workspace_id: workspaceId, provider: body.provider }, unopened)
    opened.set(id, { version: record.version, credential })
    return credential
  }
  return {
    seal: async (secret, place) => `${sealVersion}.${await ring.seal(secret, sealContextOf(place))}`,
    unseal,
    isNewest: async ({ body: { sealed } }) => isAsWritten(sealed) && (await ring.isNewest(sealed.slice(sealVersion.length + 1))),
    async open(credentials) {
      const usable = credentials
        .filter(({ body }) => !body.disabled && body.validationStatus !== 'invalid')
        .sort((a, b) => Number(b.body.isDefault) - Number(a.body.isDefault) || a.createdAt - b.createdAt)
      const found = await Promise.all(usable.map(openOne))
      const byProvider = new Map<string, Credential[]>()
      usable.forEach(({ body: { provider } }, index) => {
        const credential = found[index]
        const before = byProvider.get(provider) ?? []
        if (credential && before.length < maxKeysOfProvider) byProvider.set(provider, [...before, credential])
      })
      return byProvider
    },
    recordOf: credential => records.get(credential),
  }
}

/** Compares the exact text: the last character of base64 may hold unused bits. */
const isAsWritten = (sealed: string): boolean => {
  const [first, ...sealedParts] = sealed.split('.')
  const parts = sealedParts[0] === sealFormat ? sealedParts.slice(1) : sealedParts
  return first === sealVersion && parts.every(part => toBase64Url(fromBase64Url(part) ?? new Uint8Array()) === part)
}

const unopened =
  'A provider key of a workspace cannot be opened and is not used: it was modified, or its sealing key is in neither `sealingKey` nor `previousSealingKeys`.'

const credentialFrom = ({ id, body: { extra } }: TypedRecord<'credential'>, secret: string, dataPolicy: string | undefined): Credential =>
  credentialOf({ id, owner: 'workspace', ...(extra && { extra }), ...(dataPolicy !== undefined && { dataPolicy }) }, secret)
