import { describe, expect, test } from 'vitest'
import { withoutSecret } from './redact.ts'

const secret = 'sk-canary/7f3a9c51+0b8e6d24=='

describe('a secret is found in a provider’s text', () => {
  const encoded = encodeURIComponent(secret)
  const spellings: Readonly<Record<string, string>> = {
    itself: secret,
    'part of a URL': encoded,
    'escaped letters': secret.replace(/./g, letter => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`),
    'JSON inside JSON': JSON.stringify(JSON.stringify({ key: secret.replaceAll('/', '\\/') })),
    HTML: secret.replaceAll('/', '&#x2F;').replaceAll('=', '&#61;'),
    hex: Buffer.from(secret).toString('hex'),
    'hex as escapes of a string': secret.replace(/./g, letter => `\\x${letter.charCodeAt(0).toString(16)}`),
    'hexadecimal bytes': Array.from(Buffer.from(secret), byte => `0x${byte.toString(16)}`).join(', '),
    'decimal bytes': Array.from(Buffer.from(secret)).join(','),
    'full-width letters': secret.replace(/[!-~]/g, letter => String.fromCharCode(letter.charCodeAt(0) + 0xfee0)),
    base64: Buffer.from(secret).toString('base64'),
    'base64url after a user name': Buffer.from(`user:${secret}`).toString('base64url'),
    capitals: secret.toUpperCase(),
    'broken over two lines': `${secret.slice(0, 14)}\r\n ${secret.slice(14)}`,
    'text with an invisible character': `${secret.slice(0, 14)}\u200b${secret.slice(14)}`,
    'its beginning': secret.slice(0, 20),
    'its end': secret.slice(9),
  }

  test.each(Object.entries(spellings))('written as %s', (_, spelling) => {
    const shown = withoutSecret(`The key ${spelling} was not taken.`, { secret })
    expect(shown).toMatch(/^The ke.{0,16}\[redacted\].{0,16} was not taken\.$/s)
  })
})

test('every part of a secret in JSON is redacted', () => {
  const parts = { client_email: 'robot-account@project.iam', private_key: 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC' }
  expect(withoutSecret(`Bad key: ${parts.private_key}`, { secret: JSON.stringify(parts) })).toBe('Bad key: [redacted]')
})

test('a text that shares no eight letters and digits with the secret is unchanged', () => {
  const text = 'Rate limit reached for sk-cana. Limit: 30000, “used” 100%25, \\u00e9 &#233; Ωδός 7f3a9c5'
  expect(withoutSecret(text, { secret })).toBe(text)
  expect(withoutSecret(text, { secret: '' })).toBe(text)
})

test('the time grows with the length of the text plus that of the secret, not with their product', () => {
  const began = process.cpuUsage()
  withoutSecret('a'.repeat(300_000), { secret: 'a'.repeat(300_000) })
  const { user, system } = process.cpuUsage(began)
  expect((user + system) / 1000).toBeLessThan(10_000)
})
