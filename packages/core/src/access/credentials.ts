import { type Credential, credentialOf } from '../protocol/provider.ts'
import { fromBase64Url, toBase64Url } from '../runtime/base64.ts'
import { createLru } from '../runtime/lru.ts'
import type { Logger } from '../runtime/ports.ts'
import { type KeyRing, type SealedFor, sealFormat } from '../runtime/seal.ts'
import type { CredentialBody } from './kinds.ts'
import type { Kept } from './records.ts'

/** What a sealed secret belongs to. It opens nowhere else. */
export type Place = Pick<Kept<'credential'>, 'workspaceId' | 'id'> & { readonly body: Pick<CredentialBody, 'provider' | 'extra'> }

/** Where the secrets of workspaces for their providers are sealed and opened. */
export interface Vault {
  /** `v1.2.<key id>.<iv>.<ciphertext>`; before keys were derived from the sealing key, it was without the `2.` */
  seal(secret: string, place: Place): Promise<string>
  /** Nothing where it was altered or moved, or the key that sealed it is gone. */
  unseal(credential: Kept<'credential'>): Promise<string | undefined>
  /** It opens with the first key of the ring. */
  isNewest(credential: Kept<'credential'>): Promise<boolean>
  /** By provider: the default one, where it may be used; the others wait until they are made it. What does not open is left out, and told once. */
  open(credentials: readonly Kept<'credential'>[]): Promise<ReadonlyMap<string, readonly Credential[]>>
  /** The record of a credential that was opened here, as it was then. */
  recordOf(credential: Credential): Kept<'credential'> | undefined
}

export interface VaultPorts {
  readonly ring: KeyRing
  /** The data policy of such an account, where it is known. */
  readonly policyOf: (provider: string, tier: string | undefined) => string | undefined
  readonly logger: Logger
}

const version = 'v1'
const mostOpened = 20_000

/** As JSON, so that no two places read the same. `extra` becomes part of an address: nobody who can write to the store may send a secret elsewhere. */
const boundTo = ({ workspaceId, id, body: { provider, extra = {} } }: Place): string => {
  const beside = Object.entries(extra).sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify(['provider key', version, workspaceId, id, provider, beside])
}

const placeOf = (place: Place): SealedFor => ({ purpose: 'provider key', workspaceId: place.workspaceId, bound: boundTo(place) })

interface Opened {
  readonly version: number
  /** Nothing: it does not open. */
  readonly credential: Credential | undefined
}

export function keepVault({ ring, policyOf, logger }: VaultPorts): Vault {
  const opened = createLru<Opened>(mostOpened)
  const records = new WeakMap<Credential, Kept<'credential'>>()

  const unseal: Vault['unseal'] = async credential => {
    const { sealed } = credential.body
    return isAsWritten(sealed) ? ring.open(sealed.slice(version.length + 1), placeOf(credential)) : undefined
  }
  const openOne = async (record: Kept<'credential'>): Promise<Credential | undefined> => {
    const known = opened.get(record.id)
    if (known?.version === record.version) return known.credential
    const { id, workspaceId, body } = record
    const secret = await unseal(record)
    // Two readings at once shall end with one object.
    const meanwhile = opened.get(id)
    if (meanwhile?.version === record.version) return meanwhile.credential
    const credential = secret === undefined ? undefined : openedOf(record, secret, policyOf(body.provider, body.accountTier))
    if (credential) records.set(credential, record)
    else logger.warn({ byok_key_id: id, workspace_id: workspaceId, provider: body.provider }, unopened)
    opened.set(id, { version: record.version, credential })
    return credential
  }
  return {
    seal: async (secret, place) => `${version}.${await ring.seal(secret, placeOf(place))}`,
    unseal,
    isNewest: async ({ body: { sealed } }) => isAsWritten(sealed) && (await ring.isNewest(sealed.slice(version.length + 1))),
    async open(credentials) {
      const usable = credentials.filter(({ body }) => body.isDefault && !body.disabled && body.validationStatus !== 'invalid')
      const found = await Promise.all(usable.map(openOne))
      const byProvider = new Map<string, Credential[]>()
      usable.forEach(({ body: { provider } }, at) => {
        const credential = found[at]
        if (credential) byProvider.set(provider, [...(byProvider.get(provider) ?? []), credential])
      })
      return byProvider
    },
    recordOf: credential => records.get(credential),
  }
}

/** Letter by letter: the last one of a base64 text may hold bits that nobody reads. */
const isAsWritten = (sealed: string): boolean => {
  const [first, ...sealedParts] = sealed.split('.')
  const parts = sealedParts[0] === sealFormat ? sealedParts.slice(1) : sealedParts
  return first === version && parts.every(part => toBase64Url(fromBase64Url(part) ?? new Uint8Array()) === part)
}

const unopened =
  'A provider key of a workspace does not open, and is not used: it was altered, or the sealing key that it needs is not among `sealingKey` and `previousSealingKeys`.'

const openedOf = ({ id, body: { extra } }: Kept<'credential'>, secret: string, data_policy: string | undefined): Credential =>
  credentialOf({ id, owner: 'workspace', ...(extra && { extra }), ...(data_policy !== undefined && { data_policy }) }, secret)
