import { describe, expect, test } from 'vitest'
import { withoutSecret } from './redact-secret.ts'

const secret = 'sk-canary/7f3a9c51+0b8e6d24=='

describe('a secret is found in the words of a provider', () => {
  const encoded = encodeURIComponent(secret)
  const spellings: Readonly<Record<string, string>> = {
    'as it is': secret,
    'in an address': encoded,
    'with every letter escaped': secret.replace(/./g, letter => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`),
    'in JSON inside of JSON': JSON.stringify(JSON.stringify({ key: secret.replaceAll('/', '\\/') })),
    'in HTML': secret.replaceAll('/', '&#x2F;').replaceAll('=', '&#61;'),
    'in hex': Buffer.from(secret).toString('hex'),
    'in base64': Buffer.from(secret).toString('base64'),
    'in base64url behind a user name': Buffer.from(`user:${secret}`).toString('base64url'),
    'in capitals': secret.toUpperCase(),
    'broken over lines': `${secret.slice(0, 14)}\r\n ${secret.slice(14)}`,
    'with a letter in it that cannot be seen': `${secret.slice(0, 14)}\u200b${secret.slice(14)}`,
    'cut off': secret.slice(0, 20),
    'without its beginning': secret.slice(9),
  }

  test.each(Object.entries(spellings))('%s', (_, spelling) => {
    const shown = withoutSecret(`The key ${spelling} was not taken.`, { secret })
    expect(shown).toMatch(/^The ke.{0,16}\[redacted\].{0,16} was not taken\.$/s)
  })
})

test('every part of a secret in JSON is one', () => {
  const parts = { client_email: 'robot-account@project.iam', private_key: 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC' }
  expect(withoutSecret(`Bad key: ${parts.private_key}`, { secret: JSON.stringify(parts) })).toBe('Bad key: [redacted]')
})

test('a text that shares no eight letters and digits with the secret stays as it is', () => {
  const text = 'Rate limit reached for sk-cana. Limit: 30000, “used” 100%25, \\u00e9 &#233; Ωδός 7f3a9c5'
  expect(withoutSecret(text, { secret })).toBe(text)
  expect(withoutSecret(text, { secret: '' })).toBe(text)
})

test('what a text costs grows with the text and with the secret, not with both', () => {
  const began = process.cpuUsage()
  withoutSecret('a'.repeat(20_000), { secret: 'a'.repeat(20_000) })
  const { user, system } = process.cpuUsage(began)
  expect((user + system) / 1000).toBeLessThan(500)
})
