import { fnv1a } from '@signalbox/dialects/common'
import type { Ids } from '../runtime/ports.ts'
import { sha256 } from '../runtime/web.ts'

/**
 * A secret is `ak_` (a key) or `st_` (a session token), 32 random bytes in base62 (43 characters) and a checksum of 6 characters,
 * 52 characters in all. The checksum lets scanners for leaked secrets tell a real key from a string that looks like one.
 */
const pattern = /^(?:ak|st)_[0-9A-Za-z]{49}$/
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const bodyLength = 43
const checksumLength = 6

/** A new secret: the prefix, 256 random bits and a checksum. */
export function makeSecret(ids: Ids, prefix = 'ak_'): string {
  const body = base62(bytesToBigInt(ids.random(32)), bodyLength)
  return `${prefix}${body}${checksum(body)}`
}

/** Whether a text has the form of a generated key but a wrong checksum, so that it needs no look-up. */
export const isMistyped = (text: string): boolean => pattern.test(text) && !isSecret(text)

export const isSecret = (text: string): boolean =>
  pattern.test(text) && checksum(text.slice(3, 3 + bodyLength)) === text.slice(3 + bodyLength)

/** The name under which a key, a session token or an invite token is stored. The secret itself is not. */
export const hashSecret = (secret: string): Promise<string> => sha256(secret)

/** The part of a secret that may be shown: eight characters after `ak_`, and at most a third of a key chosen by an operator. */
export const prefixOf = (secret: string): string => secret.slice(0, Math.min(11, 3 + Math.floor((secret.length - 3) / 3)))

const bytesToBigInt = (bytes: Uint8Array): bigint => bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n)

function base62(value: bigint, length: number): string {
  let text = ''
  for (let rest = value; text.length < length; rest /= 62n) text = digits.charAt(Number(rest % 62n)) + text
  return text
}

/** Detects mistakes, not attacks. */
const checksum = (body: string): string => base62(BigInt(fnv1a(body)), checksumLength)
