import { fromBase64Url, toBase64Url } from './base64.ts'

/** AES-256-GCM under a ring of keys: the first seals, all of them open. */
export interface KeyRing {
  /** `<key id>.<iv>.<ciphertext>`. `bound`: what it belongs to, such as a workspace; it opens only for the same. `text` is well-formed. */
  seal(text: string, bound: string): Promise<string>
  /** Nothing where it was altered, is bound to something else, or was sealed with a key that is not on the ring. */
  open(sealed: string, bound: string): Promise<string | undefined>
  /** It was sealed with the first key of the ring, so it opens without the others. */
  isNewest(sealed: string): Promise<boolean>
}

export const keyBytes = 32
const ivBytes = 12

/** A byte-order mark is text like any other. */
const utf8 = (): TextDecoder => new TextDecoder('utf-8', { ignoreBOM: true })

interface RingKey {
  readonly id: string
  readonly key: CryptoKey
}

/** `keys` is asked once, at first use: some runtimes have no chance and no crypto before their first request. */
export function makeKeyRing(keys: () => readonly [Uint8Array, ...Uint8Array[]]): KeyRing {
  let made: Promise<readonly [RingKey, ...RingKey[]]> | undefined
  const ring = (): Promise<readonly [RingKey, ...RingKey[]]> => {
    made ??= (async () => {
      const [first, ...older] = keys()
      return [await ringKey(first), ...(await Promise.all(older.map(ringKey)))]
    })()
    return made
  }
  return {
    async seal(text, bound) {
      const [{ id, key }] = await ring()
      // Not from the port of ids: a test may hold those, and a nonce that comes twice under one key gives both texts away.
      const iv = crypto.getRandomValues(new Uint8Array(ivBytes))
      const sealed = await crypto.subtle.encrypt(sealing(iv, bound, id), key, new TextEncoder().encode(text))
      return `${id}.${toBase64Url(iv)}.${toBase64Url(new Uint8Array(sealed))}`
    },
    async open(sealed, bound) {
      const [id = '', iv = '', ciphertext = '', ...rest] = sealed.split('.')
      const fit = (await ring()).find(each => each.id === id)
      if (!fit || rest.length > 0) return undefined
      const [nonce, bytes] = [fromBase64Url(iv), fromBase64Url(ciphertext)]
      if (nonce?.length !== ivBytes || !bytes) return undefined
      try {
        return utf8().decode(await crypto.subtle.decrypt(sealing(nonce, bound, id), fit.key, bytes))
      } catch {
        return undefined
      }
    },
    isNewest: async sealed => sealed.startsWith(`${(await ring())[0].id}.`),
  }
}

/** The key's own id is bound too, so that an envelope cannot be passed off as another key's. */
const sealing = (iv: Uint8Array<ArrayBuffer>, bound: string, keyId: string) => ({
  name: 'AES-GCM',
  iv,
  additionalData: new TextEncoder().encode(`${bound}\n${keyId}`),
})

/** Named after itself, so that keys can change places on the ring. 48 bits of a hash tell nothing about 256 random ones. */
async function ringKey(bytes: Uint8Array): Promise<RingKey> {
  const raw = Uint8Array.from(bytes)
  const [key, hash] = await Promise.all([
    crypto.subtle.importKey('raw', raw, 'AES-GCM', false, ['encrypt', 'decrypt']),
    crypto.subtle.digest('SHA-256', raw),
  ])
  return { id: toBase64Url(new Uint8Array(hash).subarray(0, 6)), key }
}
