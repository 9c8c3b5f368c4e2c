import { fromBase64Url, toBase64Url } from '@signalbox/dialects/common'
import { createLru } from './lru.ts'

/** What a key is used for. Each purpose in each workspace has its own key, derived from the ring. */
export type Purpose = 'provider key' | 'reasoning state' | 'compaction' | 'audit' | 'item'

export interface SealContext {
  readonly purpose: Purpose
  readonly workspaceId: string
  /** Everything that the sealed text is bound to, including the workspace. It opens only with the same value. */
  readonly bound: string
}

/** AES-256-GCM and HMAC-SHA-256 with keys derived by HKDF-SHA-256 from a ring of keys. The first key seals; all of them open. */
export interface KeyRing {
  /** Returns `2.<key id>.<iv>.<ciphertext>`. `text` must be well-formed. */
  seal(text: string, place: SealContext): Promise<string>
  /**
   * Returns undefined if the text was altered, is bound to something else, or its key is not on the ring. Also opens the old format without
   * derived keys (`<key id>.<iv>.<ciphertext>`, sealed with the ring's key itself).
   */
  open(sealed: string, place: SealContext): Promise<string | undefined>
  /** Whether the text was sealed with a key derived from the first key of the ring, so that it opens without the others. */
  isNewest(sealed: string): Promise<boolean>
  /** Returns `<key id>.<code>`. Only a holder of the ring's first key can produce it for this text. */
  sign(text: string, place: Omit<SealContext, 'bound'>): Promise<string>
  /** Verifies a signature of this text. `unknown`: it was made with a key that is not on the ring. */
  verify(text: string, signature: string, place: Omit<SealContext, 'bound'>): Promise<'holds' | 'fails' | 'unknown'>
}

/** Prefix of text that was sealed with derived keys. */
export const sealFormat = '2'

/** Bytes of a sealing key. */
export const keyBytes = 32
const ivBytes = 12

/** Keeps a byte-order mark as part of the text. */
const utf8 = (): TextDecoder => new TextDecoder('utf-8', { ignoreBOM: true })

interface RingKey {
  readonly id: string
  /** Opens the old format without derived keys. */
  readonly plain: CryptoKey
  readonly root: CryptoKey
}

const maxDerived = 10_000

const algorithms = {
  seal: { name: 'AES-GCM', length: 256 },
  sign: { name: 'HMAC', hash: 'SHA-256', length: 256 },
} as const
const usages = { seal: ['encrypt', 'decrypt'], sign: ['sign', 'verify'] } as const

/** Copies the bytes of a key that may be given as hex digits; undefined if it is neither bytes nor hex. */
export function bytesOfKey(key: Uint8Array | string): Uint8Array | undefined {
  if (key instanceof Uint8Array) return key.slice()
  if (typeof key !== 'string' || !/^(?:[0-9a-f]{2})+$/i.test(key)) return undefined
  return Uint8Array.from(key.match(/../g) ?? [], pair => Number.parseInt(pair, 16))
}

/**
 * Creates the key ring of a gateway. The keys are copied at once, so that wiping an array after the start does not turn it into a key of
 * zeros.
 */
export function keyRingOf(
  {
    sealingKey,
    previousSealingKeys = [],
  }: { readonly sealingKey?: Uint8Array | string | undefined; readonly previousSealingKeys?: readonly (Uint8Array | string)[] },
  random: (bytes: number) => Uint8Array,
): KeyRing {
  const first = sealingKey ? bytesOfKey(sealingKey) : undefined
  const older = previousSealingKeys.flatMap(key => bytesOfKey(key) ?? [])
  return makeKeyRing(() => [first ?? random(keyBytes), ...older])
}

/**
 * Creates a key ring. `keys` is called once, on first use, because some runtimes have no random numbers and no crypto before their first
 * request.
 */
export function makeKeyRing(keys: () => readonly [Uint8Array, ...Uint8Array[]]): KeyRing {
  let made: Promise<readonly [RingKey, ...RingKey[]]> | undefined
  const ring = (): Promise<readonly [RingKey, ...RingKey[]]> => {
    made ??= (async () => {
      const [first, ...older] = keys()
      return [await ringKey(first), ...(await Promise.all(older.map(ringKey)))]
    })()
    return made
  }
  const derived = createLru<CryptoKey>(maxDerived)
  const derive = async (
    use: keyof typeof usages,
    { id, root }: RingKey,
    { purpose, workspaceId }: Omit<SealContext, 'bound'>,
  ): Promise<CryptoKey> => {
    const info = JSON.stringify(['signalbox', sealFormat, use, purpose, workspaceId])
    const name = `${id} ${info}`
    const key = derived.get(name) ?? (await crypto.subtle.deriveKey(hkdf(info), root, algorithms[use], false, usages[use]))
    derived.set(name, key)
    return key
  }
  return {
    async seal(text, place) {
      const [first] = await ring()
      const key = await derive('seal', first, place)
      // Not from the `Ids` port: a test may make ids repeat, and a nonce reused with the same key reveals both texts.
      const iv = crypto.getRandomValues(new Uint8Array(ivBytes))
      const sealed = await crypto.subtle.encrypt(gcmParams(iv, place.bound, first.id), key, new TextEncoder().encode(text))
      return `${sealFormat}.${first.id}.${toBase64Url(iv)}.${toBase64Url(new Uint8Array(sealed))}`
    },
    async open(sealed, place) {
      const parts = sealed.split('.')
      const isDerived = parts.length === 4 && parts[0] === sealFormat
      const [id = '', iv = '', ciphertext = '', ...rest] = isDerived ? parts.slice(1) : parts
      const fit = (await ring()).find(each => each.id === id)
      if (!fit || rest.length > 0) return undefined
      const [nonce, bytes] = [fromBase64Url(iv), fromBase64Url(ciphertext)]
      if (nonce?.length !== ivBytes || !bytes) return undefined
      try {
        const key = isDerived ? await derive('seal', fit, place) : fit.plain
        return utf8().decode(await crypto.subtle.decrypt(gcmParams(nonce, place.bound, id), key, bytes))
      } catch {
        return undefined
      }
    },
    isNewest: async sealed => sealed.startsWith(`${sealFormat}.${(await ring())[0].id}.`),
    async sign(text, place) {
      const [first] = await ring()
      const code = await crypto.subtle.sign('HMAC', await derive('sign', first, place), new TextEncoder().encode(text))
      return `${first.id}.${toBase64Url(new Uint8Array(code))}`
    },
    async verify(text, signature, place) {
      const [id = '', code = ''] = signature.split('.')
      const fit = (await ring()).find(each => each.id === id)
      if (!fit) return 'unknown'
      const [key, bytes] = [await derive('sign', fit, place), fromBase64Url(code) ?? new Uint8Array()]
      return (await crypto.subtle.verify('HMAC', key, bytes, new TextEncoder().encode(text))) ? 'holds' : 'fails'
    },
  }
}

const hkdf = (info: string) => ({ name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info: new TextEncoder().encode(info) })

/** Binds the key id too, so that an envelope cannot be passed off as one of another key. */
const gcmParams = (iv: Uint8Array<ArrayBuffer>, bound: string, keyId: string) => ({
  name: 'AES-GCM',
  iv,
  additionalData: new TextEncoder().encode(`${bound}\n${keyId}`),
})

/** The id is a hash of the key, so that keys can change places on the ring. 48 bits of a hash reveal nothing about 256 random bits. */
async function ringKey(bytes: Uint8Array): Promise<RingKey> {
  const raw = Uint8Array.from(bytes)
  const [plain, root, hash] = await Promise.all([
    crypto.subtle.importKey('raw', raw, 'AES-GCM', false, ['decrypt']),
    crypto.subtle.importKey('raw', raw, 'HKDF', false, ['deriveKey']),
    crypto.subtle.digest('SHA-256', raw),
  ])
  return { id: toBase64Url(new Uint8Array(hash).subarray(0, 6)), plain, root }
}
